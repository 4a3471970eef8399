<?php
// due.php - the process that repeats what is due: refunds, and results whose first call failed. One curl_multi
// sends all at a time and keeps its connections.
declare(strict_types=1);
require __DIR__ . '/common.php';

function fields_of(array $row): array
{
    if ($row['kind'] === 'betting-refund')
        return ['bet_amount' => $row['amount'] / 10000, 'game_id' => $row['game_id'],
            'player_id' => $row['player_id'], 'remark' => '', 'timestamp' => (int)$row['at_ms'],
            'transaction_id' => (int)$row['id'], 'user_id' => $row['user_id']];
    return result_fields($row, (int)$row['amount'], $row['result'], $row['game_id'], $row['user_id']);
}

function begin(CurlMultiHandle $multi, array $row): CurlHandle
{
    $body = json_encode(fields_of($row), JSON_UNESCAPED_UNICODE | JSON_UNESCAPED_SLASHES);
    $headers = [];
    foreach (dealer_headers($row['kind'], (int)$row['id'], $body) as $name => $value)
        $headers[] = "$name: $value";
    $curl = curl_init(str_replace('tcp:', 'http:', DEALER) . "/{$row['kind']}");
    curl_setopt_array($curl, [CURLOPT_POSTFIELDS => $body, CURLOPT_HTTPHEADER => $headers,
        CURLOPT_RETURNTRANSFER => true, CURLOPT_TIMEOUT_MS => (int)(TIMEOUT_S * 1000),
        CURLOPT_CONNECTTIMEOUT_MS => (int)(CONNECT_S * 1000)]);
    curl_multi_add_handle($multi, $curl);
    return $curl;
}

$multi = curl_multi_init();
while (true) {
    $rows = call_procedure('due_take', [(int)(microtime(true) * 1000)]);
    $calls = array_map(fn($row) => begin($multi, $row), $rows);
    do {
        curl_multi_exec($multi, $running);
        if ($running)
            curl_multi_select($multi, 1.0);
    } while ($running);
    foreach ($rows as $at => $row) {
        $class = class_of(curl_getinfo($calls[$at], CURLINFO_RESPONSE_CODE),
            (string)curl_multi_getcontent($calls[$at]));
        curl_multi_remove_handle($multi, $calls[$at]);
        $pause = $row['kind'] === 'betting-refund' ? min(300000, 1000 * 2 ** (int)$row['attempts']) : 30000;
        call_procedure('due_end', [$row['kind'], $row['id'], $class === 'success' ? 1 : 0,
            (int)(microtime(true) * 1000) + $pause]);
    }
    sleep(1);
}
