/*
 * page_checksum - checks that a page of a table is as libdb wrote it.
 *
 * Tables have checksums (DB_CHKSUM): the hash of libdb over the page, with the checksum itself as
 * zeros. The checksum follows the header of the page, or ends the first 512 bytes of the
 * description page.
 */
#ifndef STORE_BDB_ENV_PAGE_CHECKSUM_H
#define STORE_BDB_ENV_PAGE_CHECKSUM_H

#include <stdbool.h>
#include <stdint.h>

#define PAGE_BYTES 4096 /* of every table */

/*
 * Returns true if the checksum is right or the page was never written (zeros). @number 0 is the
 * description.
 */
bool page_checksum_ok(const uint8_t *page, uint64_t number);

#endif
