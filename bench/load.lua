-- load.lua - what wrk sends: unique, signed requests, made by LuaJIT with libcrypto's HMAC.
--
--   wrk ... -s load.lua URL -- KIND ID KEY PLAYERS RUN [BEFORE FIRST LAST]
--
-- KIND: a key of the table `kinds` below. ID, KEY: of the dealer or game server. PLAYERS: calls are
-- spread evenly over u0 ... u(PLAYERS - 1). RUN: text that makes the ids of this run its own. BEFORE, FIRST and LAST: see round().
-- Ends with one line of JSON.
local ffi = require("ffi")
ffi.cdef [[
typedef struct evp_md_st EVP_MD;
const EVP_MD *EVP_sha256(void);
unsigned char *HMAC(const EVP_MD *, const void *key, int key_len, const char *data, size_t len,
	unsigned char *out, unsigned int *out_len);
struct clock_time { long s; long ns; };
int clock_gettime(int clock, struct clock_time *);
]]
local crypto = ffi.load("libcrypto.so.3")
local digest = ffi.new("unsigned char[32]")
local digest_len = ffi.new("unsigned int[1]")
local text = ffi.new("char[64]")
local time = ffi.new("struct clock_time")
local hex = ffi.new("char[513]")
for byte = 0, 255 do
	ffi.copy(hex + 2 * byte, string.format("%02x", byte), 2)
end

local function hmac(key, body)
	crypto.HMAC(crypto.EVP_sha256(), key, #key, body, #body, digest, digest_len)
	for i = 0, 31 do
		text[2 * i] = hex[2 * digest[i]]
		text[2 * i + 1] = hex[2 * digest[i] + 1]
	end
	return ffi.string(text, 64)
end

local function now_ms()
	ffi.C.clock_gettime(0, time)
	return string.format("%d", tonumber(time.s) * 1000 + math.floor(tonumber(time.ns) / 1000000))
end

local count, run, players, dealer_id = 0, "", 1, ""

local function id()
	count = count + 1
	return run .. count
end

local function user()
	return "u" .. math.random(0, players - 1)
end

local function transfer(amount, who)
	return function()
		return '{"request_transaction_id":"' .. id() .. '","user_id":"' .. who()
			.. '","amount":' .. amount .. '}'
	end
end

local function read()
	return '{"user_id":"' .. user() .. '","request_timestamp":' .. now_ms() .. '}'
end

local function bet()
	local unique = id()
	return '{"request_transaction_id":"' .. unique .. '","casino_id":"seamless","user_id":"'
		.. user() .. '","game_id":"g' .. unique .. '","bet_amount":1}'
end

-- Players of bets and results follow from the number, so that a result finds its bet.
local function of_round(name, number)
	return '"casino_id":"seamless","user_id":"u' .. number * 7919 % players .. '","game_id":"g' .. name
		.. number .. '"'
end

-- Bets and results in turn: the results are of the bets FIRST to LAST of the run BEFORE, which has ended.
local before, last, settled, results, bets, stem = "", 0, 0, 0, 0, ""
local BETS, RESULTS = "/platform/bets", "/platform/results"

local function round()
	if settled < last and results < bets then
		settled, results = settled + 1, results + 1
		return '{"request_transaction_id":"r' .. before .. settled .. '",' .. of_round(before, settled)
			.. ',"result":"loss"}', RESULTS
	end
	bets = bets + 1
	return '{"request_transaction_id":"b' .. stem .. bets .. '",' .. of_round(stem, bets)
		.. ',"bet_amount":1}', BETS
end

local IN = "/wallet-service/credit/transfer-in"
local kinds = {
	["transfer-in"] = { "POST", IN, transfer("1.25", user) },
	["transfer-out"] = { "POST", "/wallet-service/credit/transfer-out", transfer("1.25", user) },
	["hot player"] = { "POST", IN, transfer("1.25", function() return "u0" end) },
	["get-balance"] = { "GET", "/user-service/user/3rdparty-get-balance", read },
	["user stat"] = { "GET", "/user-service/user/stat", read },
	["bet"] = { "POST", BETS, bet, "client" },
	["round"] = { "POST", BETS, round, "client" },
	["dealer"] = { "POST", "/", bet, "client" }, -- nearly the call that a bet makes to the dealer
}

local threads, only = 0, nil
function setup(thread)
	only = thread
	thread:set("thread", threads)
	threads = threads + 1
end

local verb, target, head, make, secret

function init(args)
	local kind = kinds[args[1]]
	dealer_id, secret, players = args[2], args[3], tonumber(args[4])
	run = args[5] .. "-" .. thread .. "-"
	stem = args[5] .. "x"
	before, settled, last = (args[6] or "") .. "x", tonumber(args[7] or 1) - 1, tonumber(args[8] or 0)
	math.randomseed(tonumber(now_ms()) % 2147483647 + thread)
	local who = kind[4] and "x-client" or "x-casino"
	make = kind[3]
	target = kind[2]
	verb = kind[1] .. " "
	head = " HTTP/1.1\r\nHost: 127.0.0.1\r\n"
		.. "Content-Type: application/json\r\n" .. who .. "-id: " .. dealer_id .. "\r\n"
		.. who .. "-signature: "
end

function request()
	local body, path = make()
	placed = bets -- global, for done()
	return verb .. (path or target) .. head .. hmac(secret, body) .. "\r\nContent-Length: " .. #body
		.. "\r\n\r\n" .. body
end

function done(summary, latency)
	local errors = summary.errors
	io.write(string.format(
		'{"requests":%d,"seconds":%.6f,"p50_ms":%.3f,"p99_ms":%.3f,"p999_ms":%.3f,"max_ms":%.3f,'
		.. '"refused":%d,"broken":%d,"late":%d,"bets":%d}\n',
		summary.requests, summary.duration / 1e6, latency:percentile(50) / 1e3,
		latency:percentile(99) / 1e3, latency:percentile(99.9) / 1e3, latency.max / 1e3,
		errors.status, errors.connect + errors.read + errors.write, errors.timeout,
		only:get("placed") or 0))
end
