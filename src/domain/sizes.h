/*
 * sizes - the sizes of the texts of rows, with the NUL, and the limits of their counts (contract, "Ids").
 */
#ifndef DOMAIN_SIZES_H
#define DOMAIN_SIZES_H

#include <stdint.h>

#define CASINO_ID_SIZE   65  /* [A-Za-z0-9_.-]{1,64} */
#define EXTERNAL_ID_SIZE 129 /* user_id, game_id, request_transaction_id: 1 to 128 bytes UTF-8 */
/* of a stored request key: an external id, or one with "#" and a place in a batch */
#define REQUEST_KEY_SIZE       (EXTERNAL_ID_SIZE + 4)
#define PLAYER_ID_SIZE         21 /* 20 lower-case base32 characters */
#define PLAYER_ID_CHARACTERS   "abcdefghijklmnopqrstuvwxyz234567" /* of a player_id */
#define CURRENCY_SIZE          9                                  /* [a-z0-9]{2,8} */
#define KEY_ID_SIZE            8  /* "k1", "k2", ...: unique within the dealer, never reused */
#define KEY_SECRET_SIZE        65 /* 64 hex characters, used undecoded as the HMAC key */
#define URL_SIZE               512
#define DEALER_KEYS_MAX        2
#define DEALERS_MAX            4096
#define OPERATION_ID_SIZE      21
#define SUDO_USER_SIZE         33
#define REASON_SIZE            257
#define ACTION_SIZE            33
#define OBJECT_SIZE            257
#define DETAIL_SIZE            513
#define CLIENT_ID_SIZE         CASINO_ID_SIZE
#define REMARK_SIZE            257 /* description of the game bet on */
#define DEALER_ERROR_ID_SIZE   65  /* of a dealer's error body, cut to fit */
#define DEALER_ERROR_TEXT_SIZE 257
#define CALLBACK_NOTE_SIZE     161 /* note on an attempt, for the operator */
#define ANSWER_TYPE_SIZE       65  /* Content-Type of a dealer's answer */
#define ANSWER_TEXT_SIZE       2049
#define CALLBACK_PATH_SIZE     129 /* of a dealer's callback */
#define UNKNOWN_BET_IDS_SIZE   257
#define BATCH_RESULTS_MAX      500 /* items of a batch of results */
#define DIGEST_TEXT_SIZE       65  /* SHA-256 as 64 lower-case hex characters */
#define BATCH_REQUEST_ID_SIZE  65
#define MOVE_ID_SIZE           OPERATION_ID_SIZE /* of a move of a dealer */
#define MOVE_PEER_SIZE         33                /* 32 hex characters: the id of an installation */
#define CELL_NAME_SIZE         16
#define MOVE_AFTER_MAX         512 /* of a packed key */
#define ROUND_BETS_MAX         256 /* bets that are part of a round */
#define ROUND_CORRECTIONS_MAX  64  /* corrections of a round */
/* Limit of the bet numbers of a round, including rejected and refunded bets. */
#define ROUND_NUMBERS_MAX (UINT32_C(1) << 30)
/*
 * Limit, in bytes, of the user_bet objects of the bets that are part of a round: sixteen of the
 * largest size, or 4 KiB for each bet. The result reads and writes them all, and other commands
 * wait for it.
 */
#define ROUND_OBJECTS_MAX (1024 * 1024)
/* Largest transaction_id. A JSON double holds every id from 1 to 2^53-1 exactly. */
#define TRANSACTION_ID_MAX ((UINT64_C(1) << 53) - 1)

#endif
