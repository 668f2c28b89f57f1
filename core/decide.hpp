#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <zenith/backend.hpp>
#include <zenith/cost.hpp>
#include <zenith/machine.hpp>
#include <zenith/types.hpp>

namespace zenith::detail {

/// Why a device cannot run `strategy` of `operation` on data in memory of `space`; empty when it can.
/// `what` begins the sentence: "the keys lie".
[[nodiscard]] std::string obstacle(std::string_view operation, std::string_view strategy, std::string_view what,
                                   memory_space space, const device_profile& on);

/// What `machine::local` knows of an executor's device, with the threads that the executor has; nullptr when nothing.
/// It stays valid.
[[nodiscard]] const device_profile* local_profile(const execution& on);

/// A candidate that cannot run.
[[nodiscard]] candidate barred(const device_profile& on, std::string_view strategy, std::string reason);
/// A candidate of which a model says that it takes `seconds`; one that cannot run if that is no time.
[[nodiscard]] candidate predicted(const device_profile& on, std::string_view strategy, double seconds);

/// The fastest, with its reasons and the others'; nothing when none can run. Of equals, the first; of backends that use
/// the same cores, one of plainer code only where it is predicted to be twice as fast. `among` are the candidates'
/// devices.
[[nodiscard]] std::optional<decision> fastest(std::vector<candidate> all, std::span<const device_profile> among);

}  // namespace zenith::detail
