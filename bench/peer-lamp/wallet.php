<?php
// wallet.php - the transfers and the balance of group A, as a LAMP host would have them: the peer that
// bench/peer.py measures. One persistent connection a process, one call of a procedure a transfer.
declare(strict_types=1);

const DEALER_KEYS = ['bench' => '@key@'];
const STATUSES = ['unauthorized' => 401, 'bad_request' => 400, 'user_not_found' => 404,
    'insufficient_balance' => 402, 'transaction_conflict' => 409, 'not_found' => 404];

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

// Ten-thousandths, of an amount with at most two decimals. Doubles hold these exactly enough.
function amount_of(mixed $value): int
{
    if (!is_int($value) && !is_float($value))
        refuse('bad_request', 'amount: a number');
    $amount = (int)round($value * 10000);
    if ($amount <= 0 || $amount > 999999999999999 || $amount % 100 !== 0)
        refuse('bad_request', 'amount: out of range');
    return $amount;
}

function text_of(array $body, string $name): string
{
    $value = $body[$name] ?? null;
    if (!is_string($value) || $value === '' || strlen($value) > 64)
        refuse('bad_request', "$name: a text of 1 to 64 characters");
    return $value;
}

function database(): PDO
{
    return new PDO('mysql:unix_socket=@socket@;dbname=wallet;charset=utf8mb4', 'wallet', '', [
        PDO::ATTR_PERSISTENT => true, PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION,
        PDO::ATTR_EMULATE_PREPARES => true]);
}

function transfer(string $casino, array $body, int $kind): never
{
    $amount = amount_of($body['amount'] ?? null);
    $user = text_of($body, 'user_id');
    $request = text_of($body, 'request_transaction_id');
    $call = database()->prepare('CALL transfer(?, ?, ?, ?, ?, ?)');
    $call->execute([$casino, $request, $user, $kind, $amount, (int)(microtime(true) * 1000)]);
    $row = $call->fetch(PDO::FETCH_ASSOC);
    $call->closeCursor();
    if ($row['refusal'] !== '' && $row['refusal'] !== 'replay')
        refuse($row['refusal'], 'the transfer was refused');
    if ($row['refusal'] === 'replay')
        header('X-Idempotent-Replay: true');
    $before = (int)$row['before_balance'];
    answer(200, ['amount' => $amount / 10000, 'before_balance' => $before / 10000,
        'currency' => 'thb',
        'current_balance' => ($before + ($kind === 1 ? -$amount : $amount)) / 10000,
        'player_id' => $row['player_id'], 'request_transaction_id' => $request,
        'transaction_id' => (int)$row['id'], 'user_id' => $user]);
}

function balance(string $casino, array $body): never
{
    $user = text_of($body, 'user_id');
    if (abs(microtime(true) * 1000 - (int)($body['request_timestamp'] ?? 0)) > 300000)
        refuse('bad_request', 'request_timestamp: outside of the window');
    $call = database()->prepare(
        'SELECT player_id, balance FROM player WHERE casino_id = ? AND user_id = ?');
    $call->execute([$casino, $user]);
    $row = $call->fetch(PDO::FETCH_ASSOC);
    if ($row === false)
        refuse('user_not_found', 'no such player');
    answer(200, ['balance' => (int)$row['balance'] / 10000, 'currency' => 'thb',
        'player_id' => $row['player_id'], 'user_id' => $user]);
}

$raw = file_get_contents('php://input', false, null, 0, 65537);
$casino = $_SERVER['HTTP_X_CASINO_ID'] ?? '';
$key = DEALER_KEYS[$casino] ?? null;
if ($key === null || !hash_equals(hash_hmac('sha256', $raw, $key),
        $_SERVER['HTTP_X_CASINO_SIGNATURE'] ?? ''))
    refuse('unauthorized', 'the signature is not right');
$body = json_decode($raw, true, 16);
if (!is_array($body))
    refuse('bad_request', 'the body is no JSON object');
switch (parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH)) {
case '/wallet-service/credit/transfer-in':
    transfer($casino, $body, 0);
case '/wallet-service/credit/transfer-out':
    transfer($casino, $body, 1);
case '/user-service/user/3rdparty-get-balance':
    balance($casino, $body);
default:
    refuse('not_found', 'no such path');
}
