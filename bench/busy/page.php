<?php
// A page of a PHP site, again and again: data made, sorted, searched, rendered, compressed.

function page(int $seed): string
{
    mt_srand($seed);
    $rows = [];
    for ($i = 0; $i < 500; $i++) {
        $rows[] = ['id' => $i, 'name' => 'article ' . mt_rand(), 'price' => mt_rand(1, 100000) / 100];
    }
    usort($rows, fn ($a, $b) => $a['price'] <=> $b['price']);
    $html = '';
    foreach ($rows as $row) {
        $name = preg_replace('/(\d{3})/', '<b>$1</b>', htmlspecialchars($row['name']));
        $html .= sprintf("<tr><td>%d</td><td>%s</td><td>%.2f</td></tr>\n", $row['id'], $name, $row['price']);
    }
    return gzcompress($html . json_encode($rows));
}

set_time_limit(0); // PHP would end the request after a minute of processor time, by max_input_time
for ($seed = 0; ; $seed++) {
    page($seed);
}
