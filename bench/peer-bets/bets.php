<?php
// bets.php - bets and results as a PHP host would have them: a peer that bench/peer_bets.py measures. A
// persistent connection to MariaDB a process, a procedure before the dealer is called and one after.
//
// A curl handle ends with its request (PHP keeps none before 8.5), and with it its connection. So curl would
// connect for each bet. A persistent stream of the process keeps its connection to the dealer.
declare(strict_types=1);
require __DIR__ . '/common.php';

const CLIENT_KEYS = ['game' => '@client_key@'];
const STATUSES = ['unauthorized' => 401, 'bad_request' => 400, 'user_not_found' => 404, 'bet_not_found' => 404,
    'not_found' => 404, 'transaction_conflict' => 409, 'already_settled' => 409, 'bet_in_progress' => 409,
    'bet_rejected' => 409, 'dealer_timeout' => 504];
const STATES = ['pending', 'accepted', 'rejected', 'refunding', 'refunded', 'settled'];

function answer(int $status, array $body): never
{
    http_response_code($status);
    header('Content-Type: application/json');
    header('Cache-Control: no-store');
    echo json_encode($body, JSON_UNESCAPED_UNICODE | JSON_UNESCAPED_SLASHES);
    exit;
}

function refuse(string $id, string $detail): never
{
    answer(STATUSES[$id], ['id' => $id, 'code' => STATUSES[$id], 'detail' => $detail]);
}

function text_of(array $body, string $name): string
{
    $value = $body[$name] ?? null;
    if (!is_string($value) || $value === '' || strlen($value) > 64)
        refuse('bad_request', "$name: a text of 1 to 64 characters");
    return $value;
}

// Ten-thousandths, of an amount with at most two decimals.
function amount_of(mixed $value, int $least): int
{
    $amount = is_int($value) || is_float($value) ? (int)round($value * 10000) : -1;
    if ($amount < $least || $amount > 999999999999999 || $amount % 100 !== 0)
        refuse('bad_request', 'an amount is out of range');
    return $amount;
}

function common(array $body): array
{
    return [text_of($body, 'request_transaction_id'), text_of($body, 'casino_id'), text_of($body, 'user_id'),
        text_of($body, 'game_id')];
}

// The answer to what was sent, as far as it came in time: status and body; status 0 if it is not whole.
function read_answer($stream, float $until): array
{
    $text = '';
    $need = PHP_INT_MAX;
    $begin = 0;
    while (strlen($text) < $need) {
        $left = $until - microtime(true);
        if ($left <= 0)
            return [0, ''];
        stream_set_timeout($stream, (int)$left, (int)(fmod($left, 1) * 1e6));
        $part = fread($stream, 65536);
        if ($part === false || $part === '')
            return [0, ''];
        $text .= $part;
        if (!$begin && ($end = strpos($text, "\r\n\r\n")) !== false) {
            $begin = $end + 4;
            if (!preg_match('/\r\ncontent-length: *(\d+)/i', substr($text, 0, $end + 2), $found))
                return [0, ''];
            $need = $begin + (int)$found[1];
        }
    }
    return [(int)substr($text, 9, 3), substr($text, $begin)];
}

function ask(string $kind, int $id, array $fields): string
{
    $until = microtime(true) + TIMEOUT_S;
    $body = json_encode($fields, JSON_UNESCAPED_UNICODE | JSON_UNESCAPED_SLASHES);
    $text = "POST /$kind HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: " . strlen($body) . "\r\n";
    foreach (dealer_headers($kind, $id, $body) as $name => $value)
        $text .= "$name: $value\r\n";
    $stream = @stream_socket_client(DEALER, $code, $why, CONNECT_S,
        STREAM_CLIENT_CONNECT | STREAM_CLIENT_PERSISTENT);
    if (!$stream)
        return 'refused'; // not a byte was sent
    stream_set_read_buffer($stream, 0);
    if (fwrite($stream, "$text\r\n$body") !== strlen($text) + 2 + strlen($body))
        [$status, $answer] = [0, ''];
    else
        [$status, $answer] = read_answer($stream, $until);
    if ($status === 0)
        fclose($stream); // a late answer must not be taken for the next one
    return class_of($status, $answer);
}

function bet_answer(int $id, int $state): never
{
    if ($state === 1 || $state === 5)
        answer(200, ['transaction_id' => $id, 'state' => 'accepted']);
    refuse(['bet_in_progress', '', 'bet_rejected', 'dealer_timeout', 'dealer_timeout'][$state],
        'the bet is ' . STATES[$state]);
}

function now_ms(): int
{
    return (int)(microtime(true) * 1000);
}

function bet(string $client, array $body): never
{
    [$request, $casino, $user, $game] = common($body);
    $amount = amount_of($body['bet_amount'] ?? null, 100);
    $now = now_ms();
    $row = call_procedure('bet_begin', [$client, $request, $casino, $user, $game, $amount, $now])[0];
    $id = (int)$row['id'];
    if ($row['refusal'] === 'replay')
        bet_answer($id, (int)$row['state']);
    if ($row['refusal'] !== '')
        refuse($row['refusal'], 'the bet was refused');
    $outcome = ask('betting', $id, ['user_id' => $user, 'player_id' => $row['player_id'],
        'bet_amount' => $amount / 10000, 'transaction_id' => $id, 'timestamp' => $now, 'remark' => '',
        'game_id' => $game]);
    $end = call_procedure('bet_end', [$id, ['success' => 1, 'refused' => 2, 'unknown' => 3][$outcome],
        $outcome === 'unknown' ? now_ms() + 1000 : null])[0];
    bet_answer($id, (int)$end['state']);
}

function result(string $client, array $body): never
{
    [$request, $casino, $user, $game] = common($body);
    $result = $body['result'] ?? '';
    if (!in_array($result, ['win', 'loss', 'refund'], true))
        refuse('bad_request', 'result: win, loss or refund');
    $payout = $result === 'win' ? amount_of($body['payout_amount'] ?? null, 0) : 0;
    $now = now_ms();
    $row = call_procedure('result_begin', [$client, $request, $casino, $user, $game, $result, $payout, $now])[0];
    $id = (int)$row['id'];
    if ($row['refusal'] !== '' && $row['refusal'] !== 'replay')
        refuse($row['refusal'], 'the result was refused');
    $delivered = (int)$row['state'] === 1;
    if ($row['refusal'] === '') {
        $row['at_ms'] = $now;
        $delivered = ask('betting-result', $id,
            result_fields($row, (int)$row['payout'], $result, $game, $user)) === 'success';
        call_procedure('result_end', [$id, $delivered ? 1 : 0, $delivered ? null : now_ms() + 5000]);
    }
    answer(200, ['transaction_id' => $id, 'bet_amount' => $row['staked'] / 10000,
        'payout_amount' => $row['payout'] / 10000, 'callback' => ['state' => $delivered ? 'delivered' : 'due']]);
}

$raw = file_get_contents('php://input', false, null, 0, 65537);
$client = $_SERVER['HTTP_X_CLIENT_ID'] ?? '';
$key = CLIENT_KEYS[$client] ?? null;
if ($key === null || !hash_equals(hash_hmac('sha256', $raw, $key),
        $_SERVER['HTTP_X_CLIENT_SIGNATURE'] ?? ''))
    refuse('unauthorized', 'the signature is not right');
$body = json_decode($raw, true, 16);
if (!is_array($body))
    refuse('bad_request', 'the body is no JSON object');
switch (parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH)) {
case '/platform/bets':
    bet($client, $body);
case '/platform/results':
    result($client, $body);
default:
    refuse('not_found', 'no such path');
}
