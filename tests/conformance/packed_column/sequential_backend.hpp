#pragma once

namespace conformance::packed {

/// Makes "sequential" a backend: the shared text of packed columns on the sequential context.
void register_sequential();

}  // namespace conformance::packed
