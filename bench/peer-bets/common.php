<?php
// common.php - what bets.php and due.php share: the database, and calls of the dealer.
declare(strict_types=1);

const DEALER_KEY = '@dealer_key@';
const DEALER = 'tcp://127.0.0.1:@dealer_port@';
const TIMEOUT_S = 3.0;
const CONNECT_S = 1.0;

function database(): PDO
{
    return new PDO('mysql:unix_socket=@socket@;dbname=wallet;charset=utf8mb4', 'wallet', '', [
        PDO::ATTR_PERSISTENT => true, PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION,
        PDO::ATTR_EMULATE_PREPARES => true]);
}

function call_procedure(string $name, array $words): array
{
    $marks = implode(',', array_fill(0, count($words), '?'));
    $call = database()->prepare("CALL $name($marks)");
    $call->execute($words);
    $rows = $call->columnCount() ? $call->fetchAll(PDO::FETCH_ASSOC) : [];
    $call->closeCursor();
    return $rows;
}

// The headers of a call, by name.
function dealer_headers(string $kind, int $id, string $body): array
{
    $event = "$kind-$id";
    $seconds = time();
    return ['Content-Type' => 'application/json', 'x-casino-signature' => hash_hmac('sha256', $body, DEALER_KEY),
        'webhook-id' => $event, 'webhook-timestamp' => (string)$seconds, 'webhook-signature' =>
        'v1,' . base64_encode(hash_hmac('sha256', "$event.$seconds.$body", DEALER_KEY, true))];
}

// 'success', 'refused' or 'unknown'
function class_of(int $status, string $body): string
{
    if ($status >= 200 && $status < 300)
        return $body === '' || is_array(json_decode($body, true, 16)) ? 'success' : 'unknown';
    return $status >= 400 && $status < 500 ? 'refused' : 'unknown';
}

function result_fields(array $row, int $payout, string $result, string $game, string $user): array
{
    return ['user_id' => $user, 'player_id' => $row['player_id'], 'bet_amount' => $row['staked'] / 10000,
        'transaction_id' => (int)$row['id'], 'timestamp' => (int)$row['at_ms'], 'remark' => '',
        'result' => $result, 'game_id' => $game, 'payout_amount' => $payout / 10000];
}
