// The use of the types; tsc reads it.
import { amount, callbacks, Client, decide, RefusedError, sign, units, verify } from 'creditbridge-dealer';
import type { Callback, Row } from 'creditbridge-dealer';

const wallet = new Client({ baseUrl: 'https://wallet.example', casinoId: 'demo', key: 'k', attempts: 3 });

export async function deposit(): Promise<string> {
	try {
		const done = await wallet.transferIn({ user_id: 'alice', amount: '1.5', request_transaction_id: 'in-1' });
		const days: number | undefined = (await wallet.stat('alice', { include_data: ['bet_summary'] }))
			.bet_summary?.length;
		return `${done.current_balance} ${done.replayed} ${days}`;
	} catch (error) {
		if ((await wallet.transferInquire('in-1', { seal: true })).state === 'sealed')
			return 'sealed';
		return error instanceof RefusedError && error.conclusive ? error.id : 'unknown';
	}
}

export function handle(callback: Callback, rows: Map<number, Row>): string {
	if (callback.kind === 'balance-inquire')
		return callback.body.user_id;
	if (callback.kind === 'betting-correction')
		return callback.body.correction_amount;
	if (callback.kind === 'betting-result' && callback.body.result === 'win')
		return amount(units(callback.body.payout_amount));
	const { json, row } = decide(callback, rows.get(callback.body.transaction_id), 10000, 'thb');
	if (row)
		rows.set(callback.body.transaction_id, row);
	return json;
}

export const whole = wallet.transferOut({ all: true, user_id: 'alice', request_transaction_id: 'out-1' });
export const newest: Promise<number> = wallet.feed({ wait_ms: 5 }).then((page) => page.next);
// @ts-expect-error all is not for an amount
export const both = wallet.transferOut({ all: true, amount: '1', user_id: 'a', request_transaction_id: 'x' });
// @ts-expect-error money is no float in an answer
export const wrong: number = (await wallet.balance('alice')).balance;
export const text: string = sign('k', new Uint8Array(2), { encoding: 'base64' });
export const kind: string | null = verify('{}', new Map([['a', 'b']]) as never, { keys: ['k'] }).kind;
export const middleware = callbacks({ keys: ['k'], kind: 'betting', onRefused: (error) => error.message });
