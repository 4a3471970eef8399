#!/usr/bin/perl
# A dealer's calls to the wallet: Perl, only modules of its core (for https also
# libio-socket-ssl-perl).
#
#     creditbridge.pl balance USER
#     creditbridge.pl in  USER AMOUNT REFERENCE     credit into the platform
#     creditbridge.pl out USER AMOUNT REFERENCE     and out of it
#     creditbridge.pl result USER GAME
#     creditbridge.pl --vectors FILE                check the signing against signature-vectors.json
#
# CREDITBRIDGE_URL, CREDITBRIDGE_CASINO and CREDITBRIDGE_KEY_FILE give the address, the casino id and the file that
# holds the key. Prints the answer. Exit status: 0 done; 1 refused; 2 usage; 75 the outcome is not
# known: the same command with the same REFERENCE, later, returns it and moves nothing twice.
use strict;
use warnings;
use Digest::SHA qw(hmac_sha256_hex);
use Encode qw(decode);
use HTTP::Tiny;
use JSON::PP;
use MIME::Base64 qw(decode_base64);
use Time::HiRes qw(time);

use constant { TRIES => 5, TIMEOUT_S => 10 };

my $json = JSON::PP->new->utf8->canonical->allow_nonref;

sub slurp {
	my ($path) = @_;
	open my $file, '<:raw', $path or die "$path: $!\n";
	local $/;
	return scalar <$file>;
}

# One attempt. HTTP::Tiny answers 599 if there was no other answer. A GET has a body here, too.
sub attempt {
	my ($method, $path, $body) = @_;
	my ($key) = slurp($ENV{CREDITBRIDGE_KEY_FILE}) =~ /(\S+)/;
	# The signature is of the bytes that are sent; the key's characters are the key.
	return HTTP::Tiny->new(timeout => TIMEOUT_S, max_redirect => 0, verify_SSL => 1)->request(
		$method, ($ENV{CREDITBRIDGE_URL} =~ s{/$}{}r) . $path, {
			content => $body,
			headers => {
				'Content-Type' => 'application/json',
				'x-casino-id' => $ENV{CREDITBRIDGE_CASINO},
				'x-casino-signature' => hmac_sha256_hex($body, $key),
			},
		});
}

# Repeats the same bytes, and so the same REFERENCE, until there is an answer that counts.
sub call {
	my ($method, $path, $body) = @_;
	my $wait = 1;
	for my $try (0 .. TRIES - 1) {
		sleep $wait if $try;
		$wait = 2**$try;
		my $answer = attempt($method, $path, $body);
		my $status = $answer->{status};
		my $known = $status == 200 && ref(eval { $json->decode($answer->{content}) }) eq 'HASH';
		if ($known || ($status != 200 && $status < 500 && $status != 429)) {
			print "$answer->{content}\n";
			return $known ? 0 : 1;
		}
		print STDERR $status == 599 ? "no answer: $answer->{content}\n" : "status $status\n";
		my $after = $answer->{headers}{'retry-after'} // '';
		$wait = $after < 30 ? $after : 30 if $after =~ /^[0-9]+$/;
	}
	print STDERR "the outcome is not known: repeat with the same reference\n";
	return 75;
}

sub transfer {
	my ($direction, $user, $amount, $reference) = @_;
	# The amount's digits are sent as they are, never as one of Perl's numbers.
	die "$amount: not an amount\n" if $amount !~ /\A(0|[1-9][0-9]{0,10})(\.[0-9]{1,4})?\z/;
	return call('POST', "/wallet-service/credit/transfer-$direction",
		"{\"amount\":$amount,\"request_transaction_id\":" . $json->encode($reference) .
			',"user_id":' . $json->encode($user) . '}');
}

sub vectors {
	my $rows = $json->decode(slurp($_[0]))->{vectors};
	my @wrong = map { $_->{name} } grep {
		$_->{signature} ne hmac_sha256_hex(decode_base64($_->{body_base64}) x $_->{times}, $_->{key})
	} @$rows;
	print @$rows - @wrong, ' of ', scalar @$rows, " vectors @wrong\n";
	return @wrong || !@$rows ? 1 : 0;
}

my ($command, @words) = map { decode('UTF-8', $_) } @ARGV;
$command //= '';
exit vectors(@words) if $command eq '--vectors' && @words == 1;
exit transfer($command, @words) if $command =~ /^(in|out)$/ && @words == 3;
exit call('GET', '/user-service/user/3rdparty-get-balance',
	$json->encode({user_id => $words[0], request_timestamp => int(time * 1000)}))
	if $command eq 'balance' && @words == 1;
exit call('GET', '/game-service/bet_game/result-inquire',
	$json->encode({user_id => $words[0], game_id => $words[1]}))
	if $command eq 'result' && @words == 2;
print STDERR "usage: creditbridge.pl balance USER | in|out USER AMOUNT REFERENCE |\n",
	"                       result USER GAME | --vectors FILE\n";
exit 2;
