/* SPDX-License-Identifier: MIT */
/*
 * The fast JSON writer: numbers, hexadecimal and text at a pointer. Nothing here checks for room:
 * the caller has reserved it (plan.h says how much a record can take), and PUT_SLACK bytes more,
 * since what is short is stored in pieces of fixed length.
 */
#ifndef PERFABI_JSON_H
#define PERFABI_JSON_H

#include <endian.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "text/out.h"
#if defined(__SSE2__) && defined(__x86_64__)
#include <emmintrin.h>
#define PUT_SSE2
#endif

enum { PUT_KEY = 32 };

/* Text of `n` bytes in storage that can be read to PUT_KEY bytes at least. */
static inline char *put_key(char *p, const char *text, size_t n)
{
	memcpy(p, text, PUT_KEY);
	if (__builtin_expect(n > PUT_KEY, 0))
		memcpy(p, text, n);
	return p + n;
}

static inline char *put_text(char *p, const char *text)
{
	size_t n = strlen(text);

	memcpy(p, text, n);
	return p + n;
}

/* The eight decimal digits of v < 100000000, the first in the lowest byte; not yet text. */
static inline uint64_t put_digits8(uint32_t v)
{
	uint64_t x = v / 10000 | (uint64_t)(v % 10000) << 32, q;

	q = (x * 10486 >> 20) & 0x0000007f0000007f;
	x = q | (x - q * 100) << 16;
	q = (x * 103 >> 10) & 0x000f000f000f000f;
	return q | (x - q * 10) << 8;
}

static inline char *put_all8(char *p, uint32_t v)
{
	uint64_t text = htole64(put_digits8(v) | 0x3030303030303030);

	memcpy(p, &text, 8);
	return p + 8;
}

/* v < 100000000, without leading zeros. */
static inline char *put_up_to8(char *p, uint32_t v)
{
	uint64_t digits = put_digits8(v), text;
	unsigned zeros = (unsigned)__builtin_ctzll(digits | UINT64_C(1) << 56) & 0x38;

	text = htole64((digits | 0x3030303030303030) >> zeros);
	memcpy(p, &text, 8);
	return p + 8 - zeros / 8;
}

static inline char *put_u64(char *p, uint64_t v)
{
	if (v < 10) {
		*p = (char)('0' + v);
		return p + 1;
	}
	if (v < 100000000)
		return put_up_to8(p, (uint32_t)v);
	if (v < UINT64_C(10000000000000000)) {
		p = put_up_to8(p, (uint32_t)(v / 100000000));
		return put_all8(p, (uint32_t)(v % 100000000));
	}
	p = put_up_to8(p, (uint32_t)(v / UINT64_C(10000000000000000)));
	v %= UINT64_C(10000000000000000);
	p = put_all8(p, (uint32_t)(v / 100000000));
	return put_all8(p, (uint32_t)(v % 100000000));
}

/* v < 10000, with leading zeros. */
static inline char *put_all4(char *p, uint32_t v)
{
	uint32_t q = v * 5243 >> 19, x = q | (v - q * 100) << 16;

	q = (x * 103 >> 10) & 0x000f000f;
	x = htole32((q | (x - q * 10) << 8) | 0x30303030);
	memcpy(p, &x, 4);
	return p + 4;
}

/*
 * A key and a number behind it: most come again soon, and are copied then. `of` tells one key from
 * another for as long as the list is not cleared.
 */
enum { AGAIN = 256, AGAIN_TEXT = 40 };

struct again {
	uint64_t number;
	const void *of; /* NULL: nothing is here */
	uint32_t length;
	char text[AGAIN_TEXT];
};

/* Where a number is, if it is there, ... */
static inline struct again *again_of(struct again *list, const void *of, uint64_t v)
{
	return &list[(v ^ (uintptr_t)of >> 4) % AGAIN];
}

/* ... whether it is, ... */
static inline int again_is(const struct again *one, const void *of, uint64_t v)
{
	return one->number == v && one->of == of;
}

/* ... and the text of it from now on, if that is not too long. */
static inline void again_keep(struct again *one, const void *of, uint64_t v, const char *text,
			      const char *end)
{
	if (end - text > AGAIN_TEXT)
		return;
	one->number = v;
	one->of = of;
	one->length = (uint32_t)(end - text);
	memcpy(one->text, text, one->length);
}

static inline char *put_again(char *p, struct again *list, const void *of, const char *key,
			      size_t length, uint64_t v)
{
	struct again *one = again_of(list, of, v);
	char *end;

	if (__builtin_expect(again_is(one, of, v), 1)) {
		memcpy(p, one->text, AGAIN_TEXT);
		return p + one->length;
	}
	end = put_u64(put_key(p, key, length), v);
	again_keep(one, of, v, p, end);
	return end;
}

static inline char *put_s64(char *p, int64_t v)
{
	if (v >= 0)
		return put_u64(p, (uint64_t)v);
	*p++ = '-';
	return put_u64(p, -(uint64_t)v);
}

/* The eight hexadecimal digits of v as text, the first in the lowest byte as loaded. */
static inline uint64_t put_hex_text8(uint32_t v)
{
	uint64_t x = v;

	x = (x << 16 | x) & 0x0000ffff0000ffff;
	x = (x << 8 | x) & 0x00ff00ff00ff00ff;
	x = (x << 4 | x) & 0x0f0f0f0f0f0f0f0f;
	x += 0x3030303030303030 + ((x + 0x0606060606060606) >> 4 & 0x0101010101010101) * 0x27;
	return htobe64(x);
}

#ifdef PUT_SSE2
/* Sixteen values from 0 to 15 as digits. */
static inline __m128i put_hex_digits(__m128i nibbles)
{
	__m128i letters = _mm_cmpgt_epi8(nibbles, _mm_set1_epi8(9));

	return _mm_add_epi8(_mm_add_epi8(nibbles, _mm_set1_epi8('0')),
			    _mm_and_si128(letters, _mm_set1_epi8('a' - '0' - 10)));
}

/* Bytes to digits, sixteen of them at a time. */
static inline void put_bytes16(char *p, __m128i bytes)
{
	__m128i low = _mm_and_si128(bytes, _mm_set1_epi8(15));
	__m128i high = _mm_and_si128(_mm_srli_epi16(bytes, 4), _mm_set1_epi8(15));

	_mm_storeu_si128((__m128i *)(void *)p, put_hex_digits(_mm_unpacklo_epi8(high, low)));
	_mm_storeu_si128((__m128i *)(void *)(p + 16), put_hex_digits(_mm_unpackhi_epi8(high, low)));
}
#endif

/* Hexadecimal digits without leading zeros and without 0x. */
static inline char *put_hex(char *p, uint64_t v)
{
	unsigned digits = 16 - (unsigned)__builtin_clzll(v | 1) / 4;

	v <<= 64 - 4 * digits;
#ifdef PUT_SSE2
	__m128i bytes = _mm_cvtsi64_si128((long long)htobe64(v));
	__m128i low = _mm_and_si128(bytes, _mm_set1_epi8(15));
	__m128i high = _mm_and_si128(_mm_srli_epi16(bytes, 4), _mm_set1_epi8(15));

	_mm_storeu_si128((__m128i *)(void *)p, put_hex_digits(_mm_unpacklo_epi8(high, low)));
#else
	uint64_t high = put_hex_text8((uint32_t)(v >> 32)), low = put_hex_text8((uint32_t)v);

	memcpy(p, &high, 8);
	memcpy(p + 8, &low, 8);
#endif
	return p + digits;
}

/* Bytes as lower-case hexadecimal, two digits each. */
static inline char *put_bytes(char *p, const unsigned char *bytes, size_t n)
{
	uint64_t text;
	uint32_t v;

#ifdef PUT_SSE2
	for (; n >= 16; n -= 16, bytes += 16, p += 32)
		put_bytes16(p, _mm_loadu_si128((const __m128i *)(const void *)bytes));
#endif
	for (; n >= 4; n -= 4, bytes += 4, p += 8) {
		memcpy(&v, bytes, 4);
		text = put_hex_text8(be32toh(v));
		memcpy(p, &text, 8);
	}
	for (; n; n--, bytes++, p += 2) {
		*p = "0123456789abcdef"[*bytes >> 4];
		p[1] = "0123456789abcdef"[*bytes & 15];
	}
	return p;
}

/* Ends the object or array: what a comma would go on after becomes `closing`. */
static inline char *put_close(char *p, char closing)
{
	if (p[-1] == ',')
		p[-1] = closing;
	else
		*p++ = closing;
	return p;
}

/*
 * `n` bytes as a JSON string, quoted; at most PUT_STRING_MAX bytes for each. What is no UTF-8
 * becomes
 * {"text": with U+FFFD in its place, "bytes": all of them in hexadecimal}, so that it comes back.
 */
enum { PUT_STRING_MAX = 8, PUT_STRING_FIXED = 32 };
char *put_string(char *p, const unsigned char *bytes, size_t n);

/* The same, but a string in any case. */
char *put_lossy(char *p, const unsigned char *bytes, size_t n);

/* The length of the well-formed UTF-8 sequence at `s`, or 0 (RFC 3629: no surrogates, shortest). */
size_t utf8_length(const unsigned char *s, size_t n);

/* Up to INT64_MAX as a number, beyond it as text "0x...". */
char *put_i64(char *p, uint64_t v);

/* The shortest decimal that reads back as `v`, or a string where JSON has none: "inf", "nan". */
char *put_double(char *p, double v);

#endif
