// Types of creditbridge-dealer. They need neither @types/node nor @types/express.

/** An amount of credits as text, such as "12.5", or as an integer of ten-thousandths, such as 125000. */
export type Money = string | number;
export type Algorithm = 'hmac-sha256' | 'hmac-sha512' | 'hmac-sha1';
export type Encoding = 'hex' | 'base64';
export type Kind = 'balance-inquire' | 'betting' | 'betting-result' | 'betting-refund' | 'betting-correction';
export type Headers = { get(name: string): string | null } | Record<string, string | string[] | undefined>;

export interface SignOptions {
	algorithm?: Algorithm;
	encoding?: Encoding;
}

/** The value of x-casino-signature (for game servers x-client-signature) for the bytes `body`. */
export function sign(key: string, body: Uint8Array | string, options?: SignOptions): string;

export interface VerifyOptions {
	/** Your live keys: each of them may have signed. */
	keys: string | readonly string[];
	algorithm?: Algorithm;
	/** How far webhook-timestamp may be from now, in seconds; 300 by default. */
	toleranceS?: number;
	/** Unix seconds. */
	now?: number;
	/** false: accepts a callback without webhook headers. Its time and kind are then not protected. */
	requireWebhook?: boolean;
}

export interface Verified {
	kind: string | null;
	webhook_id: string | null;
	webhook_timestamp: number | null;
}

/** Verifies a callback over the bytes that arrived. Throws a SignatureError. */
export function verify(rawBody: Uint8Array | string, headers: Headers, options: VerifyOptions): Verified;

export class SignatureError extends Error {
	readonly reason: string;
}

/** "12.50" -> 125000. Throws a RangeError. */
export function units(text: string): number;
/** 125000 -> "12.5". Throws a RangeError. */
export function amount(count: number): string;
/** Parses a JSON object; its money becomes text of its exact digits. */
export function decode(text: string): Record<string, unknown>;

export interface Player {
	user_id: string;
	player_id: string;
}

export interface BetRefund extends Player {
	game_id: string;
	remark: string;
	transaction_id: number;
	timestamp: number;
	bet_amount: string;
}

export interface Bet extends BetRefund {
	user_bet: Record<string, unknown>;
}

export interface BetResult extends BetRefund {
	/** A loss has the transaction_id 0. */
	result: 'win' | 'loss' | 'refund';
	payout_amount: string;
	addition_amount?: string;
	win_amount?: string;
	user_bet?: unknown;
	game_result?: unknown;
	user_bet_result?: unknown;
}

/** A decrease of the payout of a settled round. */
export interface BetCorrection extends Player {
	game_id: string;
	remark: string;
	transaction_id: number;
	timestamp: number;
	/** Below 0. */
	correction_amount: string;
	previous_payout_amount: string;
	payout_amount: string;
	revision: number;
}

interface Envelope {
	webhook_id: string | null;
	webhook_timestamp: number | null;
}

export type Callback = Envelope & (
	| { kind: 'balance-inquire'; body: Player }
	| { kind: 'betting'; body: Bet }
	| { kind: 'betting-result'; body: BetResult }
	| { kind: 'betting-refund'; body: BetRefund }
	| { kind: 'betting-correction'; body: BetCorrection });

/** Throws a CallbackError. */
export function parseCallback(kind: 'balance-inquire', rawBody: Uint8Array | string): Player;
export function parseCallback(kind: 'betting', rawBody: Uint8Array | string): Bet;
export function parseCallback(kind: 'betting-result', rawBody: Uint8Array | string): BetResult;
export function parseCallback(kind: 'betting-refund', rawBody: Uint8Array | string): BetRefund;
export function parseCallback(kind: 'betting-correction', rawBody: Uint8Array | string): BetCorrection;
export function parseCallback(kind: string, rawBody: Uint8Array | string): Player;

export class CallbackError extends Error {
	readonly status: number;
	readonly id: string;
	readonly detail: string;
}

/** What you store for a transaction_id. */
export interface Row {
	state: 'bet' | 'refunded' | 'tombstone' | 'paid' | 'refused' | 'corrected';
	user_id: string;
	game_id: string;
	/** Ten-thousandths. */
	amount: number;
	result: string;
	/** Ten-thousandths that a decrease could not take; of a row whose state is 'corrected'. */
	shortfall?: number;
}

export interface Decision {
	status: number;
	/** The answer's body, as JSON. */
	json: string;
	/** Store it for the transaction_id, unless it is undefined. */
	row: Row | undefined;
	/** Store it for the user_id, in ten-thousandths, unless it is undefined. */
	balance: number | undefined;
}

/** What a seamless dealer does with a callback. Pure; store its result in one transaction. */
export function decide(callback: Pick<Callback, 'kind' | 'body'>, row: Row | undefined,
	balance: number | undefined, currency: string): Decision;

export interface CallbackOptions extends VerifyOptions {
	/** By default the last part of the path. */
	kind?: Kind;
	/** Called with the reason of each refusal, for your log. */
	onRefused?: (error: Error, request: any) => void;
}

/** Middleware of Express: request.callback is a Callback, request.rawBody the bytes that arrived. */
export function callbacks(options: CallbackOptions):
	(request: any, response: any, next: (error?: unknown) => void) => Promise<void>;

export interface ClientOptions extends SignOptions {
	baseUrl: string;
	casinoId: string;
	key: string;
	/** 5 by default. */
	attempts?: number;
	/** Of one attempt; 10000 by default. */
	timeoutMs?: number;
	fetch?: (url: string, options: any) => Promise<any>;
	wait?: (ms: number) => Promise<unknown>;
}

export interface TransferRequest {
	amount: Money;
	all?: undefined;
	request_transaction_id: string;
	user_id: string;
}

/** The player's whole credit. */
export interface WholeTransferRequest {
	all: true;
	amount?: undefined;
	request_transaction_id: string;
	user_id: string;
}

export interface Transfer {
	amount: string;
	before_balance: string;
	currency: string;
	current_balance: string;
	player_id: string;
	request_transaction_id: string;
	transaction_id: number;
	user_id: string;
	/** true: the transfer was made by an earlier call. */
	replayed: boolean;
}

export interface Balance extends Player {
	balance: string;
	/** Credit in accepted bets whose round is not settled; of later versions of the service. */
	staked?: string;
	currency: string;
}

export interface Day {
	date: string;
	bet_count: number;
	turnover: string;
	profit_loss: string;
}

export interface Stat extends Player {
	currency: string;
	bet_count: number;
	turnover: string;
	profit_loss: string;
	bet_summary?: Day[];
	utc_offset?: number;
}

export interface RoundBet {
	transaction_id: number;
	bet_amount: string;
	addition: boolean;
	timestamp: number;
	state: string;
	remark: string;
	user_bet: unknown;
}

export interface Round extends Player {
	game_id: string;
	status: 'pending' | 'settled' | 'refunded';
	result?: 'win' | 'loss' | 'refund';
	bet_amount?: string;
	addition_amount?: string;
	win_amount?: string;
	payout_amount?: string;
	timestamp?: number;
	user_bet?: unknown;
	game_result?: unknown;
	user_bet_result?: unknown;
	bets: RoundBet[];
}

export interface TransferState {
	request_transaction_id: string;
	state: 'done' | 'refused' | 'sealed' | 'unknown';
	transfer?: Omit<Transfer, 'replayed'>;
	error?: Record<string, unknown>;
}

/** A transaction of the feed; the members depend on its kind, and there may be new kinds. */
export interface FeedItem extends Player {
	transaction_id: number;
	kind: string;
	state: string;
	timestamp: number;
	[name: string]: unknown;
}

export interface UndeliveredCallback extends Player {
	webhook_id: string;
	kind: string;
	state: string;
	attempts: number;
	timestamp: number;
	/** 0: none. */
	next_attempt: number;
	/** 0: there was no answer. */
	last_http_status: number;
	game_id: string;
}

export interface Page<Item> {
	items: Item[];
	/** The next call's `after`. */
	next: number;
	/** false: continue at once. */
	complete: boolean;
}

export interface Resent {
	webhook_id: string;
	resent: boolean;
	state: string;
	attempts: number;
	/** The transaction of an adjustment that stands for the callback. */
	adjusted_by?: number;
}

/** Throws a RefusedError or an UnknownOutcomeError. */
export class Client {
	constructor(options: ClientOptions);
	transferIn(transfer: TransferRequest): Promise<Transfer>;
	transferOut(transfer: TransferRequest | WholeTransferRequest): Promise<Transfer>;
	transferInquire(request_transaction_id: string, options?: { seal?: boolean }): Promise<TransferState>;
	feed(options?: { after?: number; limit?: number; wait_ms?: number }): Promise<Page<FeedItem>>;
	history(user_id: string, options?: { after?: number; limit?: number }): Promise<Page<FeedItem>>;
	callbacks(options?: { state?: 'parked' | 'due'; after?: number; limit?: number }):
		Promise<Page<UndeliveredCallback>>;
	resend(webhook_id: string): Promise<Resent>;
	balance(user_id: string): Promise<Balance>;
	stat(user_id: string, options?: { include_data?: 'bet_summary'[] }): Promise<Stat>;
	resultInquire(user_id: string, game_id: string): Promise<Round>;
}

export class RefusedError extends Error {
	readonly status: number;
	readonly id: string;
	readonly body: Record<string, unknown> | null;
	readonly request_id: string | undefined;
	/** false: an earlier call with the same request_transaction_id may have moved credit. */
	readonly conclusive: boolean;
}

export class UnknownOutcomeError extends Error {
	readonly attempts: number;
}
