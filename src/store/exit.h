/*
 * exit - how a store ends its process, and with which exit code.
 *
 * Some failures leave the content of the disk unknown or make every later call fail. The store
 * then ends the process at once, in the middle of any function of store.h or backup.h. The batch
 * under way receives no answer. The next start recovers the data.
 *
 *     a failed fsync, or EIO                    STORE_EXIT_IO, always
 *     a log write that finds the disk full      STORE_EXIT_FULL, always
 *     another failed log write                  STORE_EXIT_LOST, always
 *     a damaged page                            STORE_EXIT_DAMAGED, with store_options.ends
 *     any other failure that ends the store     STORE_EXIT_FULL if the disk was found full, otherwise
 *                                               STORE_EXIT_LOST; with store_options.ends
 *
 * Without store_options.ends, the functions return STATUS_IO or SAVE_LOST in the last two cases.
 */
#ifndef STORE_EXIT_H
#define STORE_EXIT_H

/* The values are public: they are exit codes of programs. */
enum store_exit {
	STORE_EXIT_LOST = 70,    /* the outcome of a batch is unknown: start again */
	STORE_EXIT_FULL = 72,    /* as STORE_EXIT_LOST; the disk was found full */
	STORE_EXIT_IO = 74,      /* the disk failed: an operator must look before the next start */
	STORE_EXIT_DAMAGED = 76, /* the data is damaged: likewise */
};

/* Returns the reason for @code, such as "the disk is full"; NULL if it is no code of the store. */
const char *store_exit_text(int code);

/* Returns the code to exit with after SAVE_LOST, or after STATUS_IO of an open store. */
enum store_exit store_exit_code(void);

/*
 * Ends the process with @code and closes nothing. STORE_EXIT_IO and STORE_EXIT_DAMAGED first call
 * store_options.before_halt. If another thread is ending the process with one of these two codes,
 * that code wins.
 */
void store_end_process(int code) __attribute__((noreturn));

/*
 * Returns unless another thread is ending the process with STORE_EXIT_IO or STORE_EXIT_DAMAGED.
 * Call it before reporting work as complete: the failure may invalidate that work.
 */
void store_wait_if_halting(void);

#endif
