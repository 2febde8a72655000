/* Which of several variants of one kernel this processor can run.

   In: the levels that there are code for, ascending, as a text of digits ("234": x86-64-v2, -v3 and -v4). Out: the number of
   the highest that runs here; -1 if even the first does not. "0" is code for a processor that is no level: PROCESSOR_NEEDS
   lists what it needs (leaf and subleaf of cpuid, number of the register, bit), PROCESSOR_STATE the registers that the system
   must save. What includes this file is itself compiled for any processor. */

#ifndef WEFT_PROCESSOR_H
#define WEFT_PROCESSOR_H

#if defined(__x86_64__)
#include <cpuid.h>

static int has_all(unsigned int word, unsigned int bits) { return (word & bits) == bits; }

static int processor_x86_level(void)
{
    unsigned int a, b, c, d, b7 = 0, c81 = 0, low = 0, high;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !has_all(c, bit_SSE3 | bit_SSSE3 | bit_SSE4_1 | bit_SSE4_2 | bit_POPCNT | bit_CMPXCHG16B))
        return 1;
    unsigned int first = c;
    if (__get_cpuid_count(7, 0, &a, &b, &c, &d))
        b7 = b;
    if (__get_cpuid(0x80000001, &a, &b, &c, &d))
        c81 = c;
    if (first & bit_OSXSAVE)
        __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    if (!has_all(first, bit_AVX | bit_FMA | bit_F16C | bit_MOVBE) || !has_all(b7, bit_AVX2 | bit_BMI | bit_BMI2) ||
        !(c81 & bit_LZCNT) || (low & 6) != 6)
        return 2;
    if (!has_all(b7, bit_AVX512F | bit_AVX512BW | bit_AVX512CD | bit_AVX512DQ | bit_AVX512VL) || (low & 0xe6) != 0xe6)
        return 3;
    return 4;
}

static int has_needs(void)
{
    static const unsigned int needs[][4] = {PROCESSOR_NEEDS};
    unsigned int registers[4], low = 0, high;
    for (size_t i = 0; i < sizeof needs / sizeof *needs; i++)
        if (!__get_cpuid_count(needs[i][0], needs[i][1], registers, registers + 1, registers + 2, registers + 3) ||
            !(registers[needs[i][2]] >> needs[i][3] & 1))
            return 0;
    if (PROCESSOR_STATE == 0)
        return 1;
    if (!__get_cpuid(1, registers, registers + 1, registers + 2, registers + 3) || !(registers[2] & bit_OSXSAVE))
        return 0;
    __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (low & PROCESSOR_STATE) == PROCESSOR_STATE;
}
#else
static int processor_x86_level(void) { return 0; }
static int has_needs(void) { return 1; }
#endif

static int best_level(const char *levels)
{
    int here = processor_x86_level(), best = -1;
    for (int i = 0; levels[i]; i++)
        if (levels[i] == '0' ? has_needs() : levels[i] - '0' <= here)
            best = i;
    return best;
}

#endif
