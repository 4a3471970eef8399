/*
 * wide - an integer of 128 bits, for sums that grow without limit.
 *
 * Two's complement, like int64_t. The largest amounts of the service, added a million times a
 * second, fill it in about 10^10 years. So sums are added without an overflow check.
 */
#ifndef BASE_WIDE_H
#define BASE_WIDE_H

__extension__ typedef __int128 wide_t;
__extension__ typedef unsigned __int128 wide_unsigned_t;

#endif
