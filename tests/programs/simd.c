/* What <immintrin.h> computes, against plain C. FIXED: the size of a copy is a sign mask's. */
#include <assert.h>
#include <cpuid.h>
#include <immintrin.h>
#include <stdint.h>
#include <string.h>

#include "crunner.h"

#define AS(type, vector) ((const type *)memcpy(out, &(vector), sizeof(vector)))
#define SAME(type, count, vector, expression) \
    do { \
        __m128i vector_ = (vector); \
        const type *is = AS(type, vector_); \
        for (int i = 0; i < (count); i++) assert(is[i] == (type)(expression)); \
    } while (0)

static unsigned char a8[16], b8[16];
static long long out[2];

static int16_t word(const unsigned char *from, int i) {
    return (int16_t)(from[2 * i] | from[2 * i + 1] << 8);
}

static int32_t dword(const unsigned char *from, int i) {
    int32_t value;
    memcpy(&value, from + 4 * i, 4);
    return value;
}

static int clamp(int value, int low, int high) {
    return value < low ? low : value > high ? high : value;
}

static void packing(__m128i a, __m128i b) {
    const unsigned char *half[2] = {a8, b8};
    SAME(int8_t, 16, _mm_packs_epi16(a, b), clamp(word(half[i / 8], i % 8), -128, 127));
    SAME(uint8_t, 16, _mm_packus_epi16(a, b), clamp(word(half[i / 8], i % 8), 0, 255));
    SAME(int16_t, 8, _mm_packs_epi32(a, b), clamp(dword(half[i / 4], i % 4), -32768, 32767));
}

static void products(__m128i a, __m128i b) {
    SAME(int16_t, 8, _mm_mulhi_epi16(a, b), word(a8, i) * word(b8, i) >> 16);
    SAME(int16_t, 8, _mm_mulhi_epu16(a, b),
         (uint32_t)(uint16_t)word(a8, i) * (uint16_t)word(b8, i) >> 16);
    SAME(uint32_t, 4, _mm_madd_epi16(a, b),
         (uint32_t)(word(a8, 2 * i) * word(b8, 2 * i))
             + (uint32_t)(word(a8, 2 * i + 1) * word(b8, 2 * i + 1)));
    SAME(uint8_t, 16, _mm_avg_epu8(a, b), (a8[i] + b8[i] + 1) >> 1);
    unsigned sums[2] = {0, 0};
    for (int i = 0; i < 16; i++) sums[i / 8] += a8[i] > b8[i] ? a8[i] - b8[i] : b8[i] - a8[i];
    SAME(uint64_t, 2, _mm_sad_epu8(a, b), sums[i]);
}

static void shifts(__m128i a, __m128i b) {
    unsigned by = b8[0] & 31;
    __m128i count = _mm_cvtsi32_si128((int)by);
    SAME(uint16_t, 8, _mm_slli_epi16(a, 3), (uint16_t)word(a8, i) << 3);
    SAME(uint16_t, 8, _mm_srl_epi16(a, count), by > 15 ? 0 : (uint16_t)word(a8, i) >> by);
    SAME(int16_t, 8, _mm_sra_epi16(a, count), word(a8, i) >> (by > 15 ? 15 : by));
    SAME(uint32_t, 4, _mm_sll_epi32(a, count), (uint32_t)dword(a8, i) << by);
    SAME(uint16_t, 8, _mm_srl_epi16(a, _mm_or_si128(b, _mm_set1_epi8(16))), 0);
    int mask = 0;
    for (int i = 0; i < 16; i++) mask |= (a8[i] >> 7) << i;
    assert(_mm_movemask_epi8(a) == mask);
    mask = 0;
    for (int i = 0; i < 4; i++) mask |= (a8[4 * i + 3] >> 7) << i;
    assert(_mm_movemask_ps(_mm_castsi128_ps(a)) == mask);
    uint64_t low;
    memcpy(&low, a8, 8);
    SAME(uint64_t, 1, _mm_srl_epi64(a, count), low >> by);
}

static void floats(void) {
    float x = (float)(int8_t)a8[1] / 4, y = (float)(int8_t)b8[1] / 4;
    if (a8[2] == 7) x = __builtin_nanf("");
    __m128 a = _mm_set_ss(x), b = _mm_set_ss(y);
    assert(_mm_comilt_ss(a, b) == (x < y) && _mm_ucomineq_ss(a, b) == (x != y));
    assert(_mm_cvtss_f32(_mm_min_ss(a, b)) == (x < y ? x : y) || y != y);
    assert((_mm_movemask_ps(_mm_cmpnlt_ss(a, b)) & 1) == !(x < y));
    if (x == x) assert(_mm_cvtss_si32(a) == (int)__builtin_rintf(x));
    if (x == x) assert(_mm_cvttss_si32(a) == (int)x);
    float near = _mm_cvtss_f32(_mm_rcp_ss(_mm_set_ss(4)));
    assert(near > 0.24f && near < 0.26f);
}

__attribute__((target("sse4.2,pclmul"))) static void newer(__m128i a, __m128i b) {
    SAME(uint8_t, 16, _mm_shuffle_epi8(a, b), b8[i] & 0x80 ? 0 : a8[b8[i] & 15]);
    SAME(uint8_t, 16, _mm_blendv_epi8(a, b, a), a8[i] & 0x80 ? b8[i] : a8[i]);
    SAME(uint32_t, 4, _mm_hadd_epi32(a, b),
         i < 2 ? (uint32_t)dword(a8, 2 * i) + (uint32_t)dword(a8, 2 * i + 1)
               : (uint32_t)dword(b8, 2 * i - 4) + (uint32_t)dword(b8, 2 * i - 3));
    SAME(int16_t, 8, _mm_maddubs_epi16(a, b),
         clamp(a8[2 * i] * (int8_t)b8[2 * i] + a8[2 * i + 1] * (int8_t)b8[2 * i + 1], -32768,
               32767));
    SAME(int16_t, 8, _mm_mulhrs_epi16(a, b), ((word(a8, i) * word(b8, i) >> 14) + 1) >> 1);
    SAME(uint8_t, 16, _mm_sign_epi8(a, b), (int8_t)b8[i] < 0 ? -a8[i] : b8[i] ? a8[i] : 0);
    int none = 1;
    for (int i = 0; i < 16; i++) none &= !(a8[i] & b8[i]);
    assert(_mm_testz_si128(a, b) == none);
    unsigned crc = dword(b8, 0);
    for (int i = 0; i < 4; i++) {
        crc ^= a8[i];
        for (int bit = 0; bit < 8; bit++) crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78u : 0);
    }
    assert(_mm_crc32_u32((unsigned)dword(b8, 0), (unsigned)dword(a8, 0)) == crc);
    unsigned __int128 product = 0;
    uint64_t x, y;
    memcpy(&x, a8, 8);
    memcpy(&y, b8 + 8, 8);
    for (int i = 0; i < 64; i++)
        if (y >> i & 1) product ^= (unsigned __int128)x << i;
    SAME(uint64_t, 2, _mm_clmulepi64_si128(a, b, 0x10), product >> 64 * i);
}

#define WIDE(type, count, vector, expression) \
    do { \
        __m256i wide_ = (vector); \
        type all_[count]; \
        memcpy(all_, &wide_, sizeof all_); \
        for (int i = 0; i < (count); i++) assert(all_[i] == (type)(expression)); \
    } while (0)

/* Each half of the result comes from the same halves of the operands. */
__attribute__((target("avx2,bmi,bmi2"))) static void widest(__m128i low, __m128i high) {
    const unsigned char *half[2] = {a8, b8};
    __m256i a = _mm256_set_m128i(high, low), b = _mm256_set_m128i(low, high);
    WIDE(int8_t, 32, _mm256_packs_epi16(a, b),
         clamp(word(half[i / 16 ^ (i / 8 & 1)], i % 8), -128, 127));
    WIDE(uint8_t, 32, _mm256_shuffle_epi8(a, b),
         half[1 - i / 16][i % 16] & 0x80 ? 0 : half[i / 16][half[1 - i / 16][i % 16] & 15]);
    WIDE(uint32_t, 8, _mm256_hadd_epi32(a, b),
         (uint32_t)dword(half[i / 4 ^ (i / 2 & 1)], 2 * (i % 2))
             + (uint32_t)dword(half[i / 4 ^ (i / 2 & 1)], 2 * (i % 2) + 1));
    unsigned mask = 0, x = (unsigned)dword(a8, 0), n = b8[0];
    for (int i = 0; i < 32; i++) mask |= (unsigned)(half[i / 16][i % 16] >> 7) << i;
    assert((unsigned)_mm256_movemask_epi8(a) == mask);
    assert(_bzhi_u32(x, n) == (n > 31 ? x : x & ((1u << n) - 1)));
    unsigned taken = 0, given = 0, k = 0;
    for (int i = 0; i < 32; i++)
        if (mask >> i & 1) {
            taken |= (x >> i & 1) << k;
            given |= (x >> k & 1) << i;
            k++;
        }
    assert(_pext_u32(x, mask) == taken && _pdep_u32(x, mask) == given);
}

static int has_widest(void) {
    unsigned eax, ebx, ecx, edx;
    if (!__get_cpuid(1, &eax, &ebx, &ecx, &edx) || !(ecx & bit_OSXSAVE)) return 0;
    __asm__("xgetbv" : "=a"(eax), "=d"(edx) : "c"(0));
    if ((eax & 6) != 6 || !__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx)) return 0;
    return ebx & bit_AVX2 && ebx & bit_BMI2;
}

int main(void) {
    crunner_get_bytes(a8, sizeof a8);
    crunner_get_bytes(b8, sizeof b8);
    __m128i a = _mm_loadu_si128((const __m128i *)a8), b = _mm_loadu_si128((const __m128i *)b8);
    packing(a, b);
    products(a, b);
    shifts(a, b);
    floats();
    unsigned eax, ebx, ecx = 0, edx;
    __get_cpuid(1, &eax, &ebx, &ecx, &edx);
    if (ecx & bit_SSE4_2 && ecx & bit_PCLMUL) newer(a, b);
    if (has_widest()) widest(a, b);
    char text[16] = {0};
    unsigned length = (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(a, b)) & 31;
#ifdef FIXED
    length &= 15;
#endif
    memset(text, 0, length);
    return text[0];
}
