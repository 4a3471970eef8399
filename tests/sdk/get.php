<?php
/* get.php URL: sends a GET with the body {} by each client of PHP; prints what the server saw, as JSON. */
require '/usr/share/php/GuzzleHttp/autoload.php';

$seen = ['Guzzle' => (string)(new GuzzleHttp\Client())->request('GET', $argv[1], ['body' => '{}'])->getBody()];
$curl = curl_init($argv[1]);
curl_setopt_array($curl, [CURLOPT_CUSTOMREQUEST => 'GET', CURLOPT_POSTFIELDS => '{}',
	CURLOPT_RETURNTRANSFER => true]);
$seen['PHP curl with `CURLOPT_CUSTOMREQUEST`'] = curl_exec($curl);
$curl = curl_init($argv[1]);
curl_setopt_array($curl, [CURLOPT_POSTFIELDS => '{}', CURLOPT_HTTPGET => true, CURLOPT_RETURNTRANSFER => true]);
$seen['PHP curl with `CURLOPT_HTTPGET`'] = curl_exec($curl);
echo json_encode($seen), "\n";
