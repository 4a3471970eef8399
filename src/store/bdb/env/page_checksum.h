/*
 * page_checksum - is a page of a table as libdb wrote it?
 *
 * Tables have checksums (DB_CHKSUM): libdb's hash of the page with the checksum itself as zeros, in
 * its place behind the page's header, or at the end of the first 512 bytes of a table's description.
 */
#ifndef STORE_BDB_ENV_PAGE_CHECKSUM_H
#define STORE_BDB_ENV_PAGE_CHECKSUM_H

#include <stdbool.h>
#include <stdint.h>

#define PAGE_BYTES 4096 /* of every table */

/* True: its checksum is right, or it was never written (zeros). @number: 0 is the description. */
bool page_is_whole(const uint8_t *page, uint64_t number);

#endif
