#!/usr/bin/perl
# A dealer's client, written from the public documentation of 2024; see client.sh.
use strict;
use warnings;
use Digest::SHA qw(hmac_sha256);
use HTTP::Tiny;
use JSON::PP;
use MIME::Base64 qw(encode_base64);

sub sign {
	return encode_base64(hmac_sha256($_[0], $ENV{KEY}), '');
}

sub call {
	my ($method, $path, $values) = @_;
	my $body = encode_json($values);
	print HTTP::Tiny->new(timeout => 20)->request($method, $ENV{URL} . $path, {
		content => $body,
		headers => {
			'Content-Type' => 'application/json',
			'x-casino-id' => $ENV{CASINO},
			'x-casino-signature' => sign($body),
		},
	})->{content};
}

my ($command, @words) = @ARGV;
my $now = time * 1000;
if ($command eq 'in' || $command eq 'out') {
	call('POST', "/wallet-service/credit/transfer-$command",
		{user_id => $words[0], amount => 0 + $words[1], request_transaction_id => $words[2]});
} elsif ($command eq 'balance') {
	call('GET', '/user-service/user/3rdparty-get-balance',
		{user_id => $words[0], request_timestamp => $now});
} elsif ($command eq 'stat') {
	call('GET', '/user-service/user/stat',
		{user_id => $words[0], include_data => ['bet_summary'], request_timestamp => $now});
} elsif ($command eq 'result') {
	call('GET', '/game-service/bet_game/result-inquire',
		{user_id => $words[0], game_id => $words[1]});
} elsif ($command eq 'verify') {
	open my $file, '<:raw', $words[0] or die "$words[0]: $!\n";
	local $/;
	exit(sign(scalar <$file>) eq $words[1] ? 0 : 1);
}
