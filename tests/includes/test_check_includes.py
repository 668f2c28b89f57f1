"""The check itself is tested: trees with one wrong include each."""

import pathlib
import tempfile
import unittest

import check_includes


def faults_of(files):
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        standing = {"core/include/zenith/error.hpp": "", "core/tile.hpp": "",
                    "algorithms/top_k/include/zenith/top_k.hpp": "", "algorithms/top_k/order.hpp": "",
                    "backends/cpu/isa.hpp": "", "backends/cuda/device.hpp": "", "perf/study/csv.hpp": "",
                    "tests/support/catch.hpp": "", "tests/simt/fibre.hpp": ""}
        for name, text in {**standing, **files}.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return list(check_includes.faults(root))


class Allowed(unittest.TestCase):
    def check(self, source, include):
        self.assertEqual(faults_of({source: f"#include {include}\n"}), [])

    def test_core(self):
        self.check("core/src/x.cpp", "<zenith/error.hpp>")
        self.check("core/src/x.cpp", "<core/tile.hpp>")
        self.check("core/src/x.cpp", "<nlohmann/json.hpp>")

    def test_algorithms(self):
        self.check("algorithms/top_k/x.hpp", "<core/tile.hpp>")
        self.check("algorithms/skyline/x.hpp", "<algorithms/top_k/order.hpp>")
        self.check("algorithms/top_k/include/zenith/x.hpp", "<zenith/error.hpp>")

    def test_backends(self):
        self.check("backends/cpu/x.cpp", "<backends/cpu/isa.hpp>")
        self.check("backends/cpu/x.cpp", "<algorithms/top_k/order.hpp>")
        self.check("backends/cuda/kernels/x.cu", "<cuda_runtime.h>")
        self.check("backends/cuda/kernels/x.cu", "<cub/device/device_scan.cuh>")

    def test_perf_and_tests(self):
        self.check("perf/bench/x.cpp", "<zenith/top_k.hpp>")
        self.check("tests/unit/x.cpp", "<backends/cpu/isa.hpp>")
        self.check("tests/simt/x.cpp", "<backends/cuda/device.hpp>")
        self.check("tests/fuzz/x.cpp", "<perf/study/csv.hpp>")
        self.check("tests/device/x.cpp", "<core/tile.hpp>")
        self.check("tests/device/x.cpp", "<backends/cpu/isa.hpp>")
        self.check("tests/toy_family/x.cpp", "<core/tile.hpp>")
        self.check("tests/conformance/x.cpp", "<catch.hpp>")

    def test_a_commented_include_is_none(self):
        self.assertEqual(faults_of({"core/x.hpp": "// #include <algorithms/top_k/order.hpp>\n"
                                                  "/*\n#include <algorithms/top_k/order.hpp>\n*/\n"}), [])


class Refused(unittest.TestCase):
    def check(self, source, include, line=1):
        found = faults_of({source: "\n" * (line - 1) + f"#include {include}\n"})
        self.assertEqual(len(found), 1, found)
        self.assertTrue(found[0].startswith(f"{source}:{line}: "), found)

    def test_core(self):
        self.check("core/src/x.cpp", "<zenith/top_k.hpp>")
        self.check("core/x.hpp", "<algorithms/top_k/order.hpp>", line=4)
        self.check("core/x.hpp", "<backends/cpu/isa.hpp>")

    def test_algorithms(self):
        self.check("algorithms/top_k/x.cpp", "<backends/cpu/isa.hpp>")
        self.check("algorithms/top_k/x.cpp", "<backends/cpu/not_there.hpp>")
        self.check("algorithms/top_k/x.cpp", '"../../backends/cpu/isa.hpp"')

    def test_backends(self):
        self.check("backends/cpu/x.cpp", "<backends/cuda/device.hpp>")
        self.check("backends/cuda/x.cpp", '"../cpu/isa.hpp"')
        self.check("backends/cpu/x.cpp", "<perf/study/csv.hpp>")

    def test_cuda_headers(self):
        self.check("backends/kokkos/x.cpp", "<cuda_runtime.h>")
        self.check("core/src/x.cpp", "<cuda.h>")
        self.check("tests/unit/x.cpp", "  <cub/cub.cuh>")
        self.check("perf/bench/x.cpp", "<thrust/sort.h>")

    def test_public_headers(self):
        self.check("core/include/zenith/x.hpp", "<core/tile.hpp>")
        self.check("core/include/zenith/x.hpp", "<nlohmann/json.hpp>")
        self.check("core/include/zenith/x.hpp", "<zenith/top_k.hpp>")

    def test_perf_and_tests(self):
        self.check("perf/bench/x.cpp", "<algorithms/top_k/order.hpp>")
        self.check("tests/conformance/x.cpp", "<algorithms/top_k/order.hpp>")
        self.check("tests/dispatch/x.cpp", "<core/tile.hpp>")
        self.check("tests/simt/x.cpp", "<backends/cpu/isa.hpp>")
        self.check("tests/device/x.cpp", "<algorithms/top_k/order.hpp>")

    def test_nothing_includes_tests(self):
        self.check("backends/cuda/x.hpp", "<tests/simt/fibre.hpp>")
        self.check("backends/cuda/x.hpp", '"../../tests/simt/fibre.hpp"')
        self.check("perf/study/x.cpp", "<tests/support/catch.hpp>")


if __name__ == "__main__":
    unittest.main()
