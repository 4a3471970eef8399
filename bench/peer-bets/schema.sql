-- Bets and results of seamless players in MariaDB, beside the players of bench/peer-lamp/schema.sql: for the
-- peers that bench/peer_bets.py measures. Each call of a procedure is one round trip and one commit: one before
-- the dealer is called, one with its answer.
--
-- At due_ms the repeating process reads the row: a call whose sender died, a refund, or a result to
-- be repeated.
CREATE TABLE bet (
	id BIGINT UNSIGNED AUTO_INCREMENT PRIMARY KEY,
	client_id VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
	request_transaction_id VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
	player BIGINT UNSIGNED NOT NULL,
	game_id VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
	amount BIGINT NOT NULL, -- ten-thousandths
	state TINYINT NOT NULL DEFAULT 0, -- 0 pending, 1 accepted, 2 rejected, 3 refunding, 4 refunded, 5 settled
	attempts INT NOT NULL DEFAULT 1,
	at_ms BIGINT NOT NULL,
	due_ms BIGINT,
	UNIQUE KEY (client_id, request_transaction_id),
	KEY (player, game_id),
	KEY (due_ms)
) ENGINE=InnoDB;

CREATE TABLE result (
	id BIGINT UNSIGNED AUTO_INCREMENT PRIMARY KEY,
	client_id VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
	request_transaction_id VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
	player BIGINT UNSIGNED NOT NULL,
	game_id VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
	result VARCHAR(8) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
	staked BIGINT NOT NULL,
	payout BIGINT NOT NULL,
	state TINYINT NOT NULL DEFAULT 0, -- 0 due, 1 delivered, 2 parked
	attempts INT NOT NULL DEFAULT 1,
	at_ms BIGINT NOT NULL,
	due_ms BIGINT,
	UNIQUE KEY (client_id, request_transaction_id),
	UNIQUE KEY (player, game_id),
	KEY (due_ms)
) ENGINE=InnoDB;

DELIMITER //

-- refusal: '' (call the dealer now), 'replay' (state says what became of it), or the id of an error
CREATE PROCEDURE bet_begin(c VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin,
	r VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin,
	o VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin,
	u VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin,
	g VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin, a BIGINT, t BIGINT)
whole: BEGIN
	DECLARE p, b, old_player BIGINT UNSIGNED;
	DECLARE old_amount BIGINT;
	DECLARE s TINYINT;
	DECLARE old_game VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin;
	DECLARE pub CHAR(20) CHARACTER SET ascii COLLATE ascii_bin;
	DECLARE EXIT HANDLER FOR 1062 BEGIN
		ROLLBACK;
		SELECT id, player, game_id, amount, state INTO b, old_player, old_game, old_amount, s FROM bet
			WHERE client_id = c AND request_transaction_id = r;
		SELECT IF(old_player = p AND old_game = g AND old_amount = a, 'replay',
			'transaction_conflict') refusal, b id, pub player_id, s state;
	END;
	START TRANSACTION;
	SELECT id, player_id INTO p, pub FROM player WHERE casino_id = o AND user_id = u FOR UPDATE;
	IF p IS NULL THEN
		ROLLBACK;
		SELECT 'user_not_found' refusal, 0 id, '' player_id, 0 state;
		LEAVE whole;
	END IF;
	INSERT INTO bet (client_id, request_transaction_id, player, game_id, amount, at_ms, due_ms)
		VALUES (c, r, p, g, a, t, t + 10000);
	SET b = LAST_INSERT_ID();
	IF EXISTS (SELECT 1 FROM result WHERE player = p AND game_id = g) THEN
		ROLLBACK;
		SELECT 'already_settled' refusal, 0 id, pub player_id, 0 state;
		LEAVE whole;
	END IF;
	COMMIT;
	SELECT '' refusal, b id, pub player_id, 0 state;
END//

-- s: 1 accepted, 2 rejected, 3 refunding, whose refund is due at d
CREATE PROCEDURE bet_end(b BIGINT UNSIGNED, s TINYINT, d BIGINT)
BEGIN
	UPDATE bet SET state = s, due_ms = d WHERE id = b AND state = 0;
	SELECT state FROM bet WHERE id = b;
END//

CREATE PROCEDURE result_begin(c VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin,
	r VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin,
	o VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin,
	u VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin,
	g VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin,
	w VARCHAR(8) CHARACTER SET ascii COLLATE ascii_bin, a BIGINT, t BIGINT)
whole: BEGIN
	DECLARE p, m, old_player BIGINT UNSIGNED;
	DECLARE total, old_payout BIGINT;
	DECLARE accepted, pending INT;
	DECLARE s TINYINT;
	DECLARE old_game VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin;
	DECLARE pub CHAR(20) CHARACTER SET ascii COLLATE ascii_bin;
	DECLARE EXIT HANDLER FOR 1062 BEGIN
		ROLLBACK;
		SELECT id, player, game_id, payout, staked, state INTO m, old_player, old_game, old_payout,
			total, s FROM result WHERE client_id = c AND request_transaction_id = r;
		SELECT IF(m IS NULL, 'already_settled', IF(old_player = p AND old_game = g AND
			old_payout = IF(w = 'refund', total, a), 'replay', 'transaction_conflict')) refusal,
			m id, pub player_id, total staked, old_payout payout, s state;
	END;
	START TRANSACTION;
	SELECT id, player_id INTO p, pub FROM player WHERE casino_id = o AND user_id = u FOR UPDATE;
	IF p IS NULL THEN
		ROLLBACK;
		SELECT 'user_not_found' refusal, 0 id, '' player_id, 0 staked, 0 payout, 0 state;
		LEAVE whole;
	END IF;
	SELECT COALESCE(SUM(IF(state = 1, amount, 0)), 0), COALESCE(SUM(state = 1), 0),
		COALESCE(SUM(state = 0), 0) INTO total, accepted, pending
		FROM bet WHERE player = p AND game_id = g;
	INSERT INTO result (client_id, request_transaction_id, player, game_id, result, staked, payout, at_ms,
		due_ms) VALUES (c, r, p, g, w, total, IF(w = 'refund', total, a), t, t + 10000);
	SET m = LAST_INSERT_ID();
	IF pending > 0 OR accepted = 0 THEN
		ROLLBACK;
		SELECT IF(pending > 0, 'bet_in_progress', 'bet_not_found') refusal, 0 id, pub player_id,
			0 staked, 0 payout, 0 state;
		LEAVE whole;
	END IF;
	UPDATE bet SET state = 5 WHERE player = p AND game_id = g AND state = 1;
	COMMIT;
	SELECT '' refusal, m id, pub player_id, total staked, IF(w = 'refund', total, a) payout, 0 state;
END//

-- s: 1 delivered, or 0: to be repeated at d
CREATE PROCEDURE result_end(m BIGINT UNSIGNED, s TINYINT, d BIGINT)
UPDATE result SET state = s, due_ms = d WHERE id = m AND state = 0//

-- What is to be sent at t by the one process that repeats; the attempt counts before it begins. A call whose
-- sender died may have reached the dealer: it becomes a refund.
CREATE PROCEDURE due_take(t BIGINT)
BEGIN
	CREATE TEMPORARY TABLE IF NOT EXISTS taken (kind VARCHAR(16), id BIGINT UNSIGNED) ENGINE=MEMORY;
	DELETE FROM taken;
	INSERT INTO taken SELECT 'betting-refund', id FROM bet WHERE due_ms <= t ORDER BY due_ms LIMIT 100;
	INSERT INTO taken SELECT 'betting-result', id FROM result WHERE due_ms <= t ORDER BY due_ms LIMIT 100;
	START TRANSACTION;
	UPDATE bet JOIN taken ON taken.kind = 'betting-refund' AND taken.id = bet.id
		SET state = 3, attempts = attempts + 1, due_ms = t + 10000
		WHERE bet.due_ms <= t AND bet.state IN (0, 3);
	UPDATE result JOIN taken ON taken.kind = 'betting-result' AND taken.id = result.id
		SET attempts = attempts + 1, due_ms = t + 10000;
	COMMIT;
	SELECT taken.kind, bet.id, bet.attempts, bet.game_id, bet.amount, 0 staked, '' result, bet.at_ms,
		player.user_id, player.player_id FROM taken
		JOIN bet ON taken.kind = 'betting-refund' AND taken.id = bet.id AND bet.state = 3
		JOIN player ON player.id = bet.player
	UNION ALL SELECT taken.kind, result.id, result.attempts, result.game_id, result.payout, result.staked,
		result.result, result.at_ms, player.user_id, player.player_id FROM taken
		JOIN result ON taken.kind = 'betting-result' AND taken.id = result.id
		JOIN player ON player.id = result.player;
END//

CREATE PROCEDURE due_end(k VARCHAR(16), i BIGINT UNSIGNED, done TINYINT, d BIGINT)
BEGIN
	IF k = 'betting-refund' THEN
		UPDATE bet SET state = IF(done, 4, 3), due_ms = IF(done, NULL, d) WHERE id = i AND state = 3;
	ELSE
		UPDATE result SET state = IF(done, 1, IF(attempts >= 3, 2, 0)),
			due_ms = IF(done OR attempts >= 3, NULL, d) WHERE id = i AND state = 0;
	END IF;
END//

DELIMITER ;
