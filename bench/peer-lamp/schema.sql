-- The same contract in MariaDB: the peer that bench/peer.py measures.
-- One call of a procedure is one round trip and one commit.
CREATE TABLE player (
	id BIGINT UNSIGNED AUTO_INCREMENT PRIMARY KEY,
	casino_id VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
	user_id VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
	player_id CHAR(20) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
	balance BIGINT NOT NULL DEFAULT 0, -- ten-thousandths
	UNIQUE KEY (casino_id, user_id)
) ENGINE=InnoDB;

CREATE TABLE movement (
	id BIGINT UNSIGNED AUTO_INCREMENT PRIMARY KEY,
	casino_id VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
	request_transaction_id VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
	player BIGINT UNSIGNED NOT NULL,
	kind TINYINT NOT NULL, -- 0: in, 1: out
	amount BIGINT NOT NULL,
	before_balance BIGINT NOT NULL,
	at_ms BIGINT NOT NULL,
	UNIQUE KEY (casino_id, request_transaction_id),
	KEY (player, id)
) ENGINE=InnoDB;

DELIMITER //

-- refusal: '' (done), 'replay', 'user_not_found', 'insufficient_balance', 'transaction_conflict'
CREATE PROCEDURE transfer(c VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin,
	r VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin,
	u VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin, k TINYINT, a BIGINT, t BIGINT)
whole: BEGIN
	DECLARE p, m, old_player BIGINT UNSIGNED;
	DECLARE b, old_amount BIGINT;
	DECLARE old_kind TINYINT;
	DECLARE pub CHAR(20) CHARACTER SET ascii COLLATE ascii_bin;
	DECLARE EXIT HANDLER FOR 1062 BEGIN -- the id was used: what it did then
		ROLLBACK;
		SELECT id, player, kind, amount, before_balance INTO m, old_player, old_kind,
			old_amount, b FROM movement WHERE casino_id = c AND request_transaction_id = r;
		SELECT IF(old_player = p AND old_kind = k AND old_amount = a, 'replay',
			'transaction_conflict') refusal, m id, pub player_id, b before_balance;
	END;
	START TRANSACTION;
	SELECT id, player_id, balance INTO p, pub, b FROM player
		WHERE casino_id = c AND user_id = u FOR UPDATE;
	IF p IS NULL THEN
		ROLLBACK;
		SELECT 'user_not_found' refusal, 0 id, '' player_id, 0 before_balance;
		LEAVE whole;
	END IF;
	INSERT INTO movement (casino_id, request_transaction_id, player, kind, amount,
		before_balance, at_ms) VALUES (c, r, p, k, a, b, t);
	SET m = LAST_INSERT_ID();
	IF k = 1 AND b < a THEN
		ROLLBACK;
		SELECT 'insufficient_balance' refusal, 0 id, pub player_id, b before_balance;
		LEAVE whole;
	END IF;
	UPDATE player SET balance = b + IF(k = 1, -a, a) WHERE id = p;
	COMMIT;
	SELECT '' refusal, m id, pub player_id, b before_balance;
END//

DELIMITER ;
