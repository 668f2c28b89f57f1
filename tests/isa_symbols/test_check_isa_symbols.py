"""The check itself is tested: symbols that may meet another unit's, and such that may not."""

import unittest

import check_isa_symbols


class Symbols(unittest.TestCase):
    def faults(self, isa, *symbols):
        return len(list(check_isa_symbols.faults(symbols, isa)))

    def test_a_name_in_the_namespace_or_the_arguments_is_enough(self):
        self.assertEqual(self.faults("avx2", ("zenith::cpu_backend::avx2::table", "D"),
                                     ("xsimd::batch<float, xsimd::avx2>::load(float const*)", "W"),
                                     ("void f<zenith::avx2::tile>(int)", "u")), 0)
        self.assertEqual(self.faults("avx512", ("xsimd::batch<float, xsimd::avx512bw>::size()", "W")), 0)

    def test_shared_inline_functions_are_found(self):
        self.assertEqual(self.faults("avx2", ("std::vector<int>::push_back(int&&)", "W")), 1)
        self.assertEqual(self.faults("avx2", ("zenith::top_k_detail::plan_filter(unsigned long)", "W")), 1)
        self.assertEqual(self.faults("avx2", ("guard variable for f()::x", "u")), 1)
        self.assertEqual(self.faults("avx2", ("helper", "T")), 1)

    def test_another_set_s_name_is_not_enough(self):
        self.assertEqual(self.faults("avx2", ("xsimd::batch<float, xsimd::avx>::load(float const*)", "W")), 1)
        self.assertEqual(self.faults("avx2", ("xsimd::batch<float, xsimd::avx512bw>::load()", "W")), 1)
        self.assertEqual(self.faults("sse2", ("f(not_sse2_at_all)", "W")), 1)

    def test_local_symbols_meet_no_one(self):
        self.assertEqual(self.faults("avx2", ("helper", "t"), ("constant", "r"), ("DW.ref.__gxx_personality_v0", "V")), 0)


if __name__ == "__main__":
    unittest.main()
