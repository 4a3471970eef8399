/*
 * Money is text in credits ("12.5") or an integer of ten-thousandths (125000), and never a float: 0.1 + 0.2
 * is not 0.3 in floats, and the wallet refuses it. The largest amount, 99999999999.9999, is
 * 999999999999999 ten-thousandths, which a Number holds exactly.
 */
const MONEY = new Set(['amount', 'before_balance', 'current_balance', 'balance', 'staked', 'turnover',
	'profit_loss', 'bet_amount', 'addition_amount', 'win_amount', 'payout_amount', 'correction_amount',
	'previous_payout_amount', 'shortfall', 'delta']);
// What the game says of itself: any JSON, passed on as JSON.parse() has it.
const OPAQUE = new Set(['user_bet', 'game_result', 'user_bet_result']);
const DIGITS_MAX = 15;

// "12.50" -> 125000. Throws a RangeError unless the text is an amount of at most 4 decimals.
export function units(text) {
	if (typeof text !== 'string')
		throw new TypeError('an amount is text such as "12.50", never a float');
	const part = /^(-?)([0-9]+)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]{1,4}))?$/.exec(text);
	if (!part)
		throw new RangeError(`${text}: not an amount`);
	const [, minus, whole, decimals = '', exponent = '0'] = part;
	const digits = (whole + decimals).replace(/^0+/, '');
	const short = digits.replace(/0+$/, '');
	const zeros = digits.length - short.length - decimals.length + Number(exponent) + 4;
	if (short === '')
		return 0;
	if (zeros < 0 || short.length + zeros > DIGITS_MAX)
		throw new RangeError(`${text}: more than 4 decimals, or too large`);
	return Number(minus + short + '0'.repeat(zeros));
}

// 125000 -> "12.5". Throws a RangeError unless @count is an integer in the range of an amount.
export function amount(count) {
	if (!Number.isInteger(count) || Math.abs(count) >= 10 ** DIGITS_MAX)
		throw new RangeError(`${count}: not an integer of ten-thousandths`);
	const digits = String(Math.abs(count)).padStart(5, '0');
	const decimals = digits.slice(-4).replace(/0+$/, '');
	return (count < 0 ? '-' : '') + digits.slice(0, -4) + (decimals && `.${decimals}`);
}

// @value with the money of @texts, which is the same document with its numbers as texts.
function withMoney(value, texts, name) {
	if (MONEY.has(name) && typeof value === 'number')
		return amount(units(texts));
	if (MONEY.has(name) && typeof value === 'string')
		throw new RangeError(`${name}: must be a number`);
	if (OPAQUE.has(name) || value === null || typeof value !== 'object')
		return value;
	if (Array.isArray(value))
		return value.map((item, at) => withMoney(item, texts[at], ''));
	return Object.fromEntries(Object.keys(value).map((key) =>
		[key, withMoney(value[key], texts[key], key)]));
}

/*
 * Parses a body of the protocol. Money becomes text of its exact digits: JSON.parse() would make floats
 * of it. Throws a SyntaxError or RangeError unless @text is one JSON object.
 */
export function decode(text) {
	const value = JSON.parse(text);
	if (value === null || typeof value !== 'object' || Array.isArray(value))
		throw new SyntaxError('not a JSON object');
	// Once more with the numbers outside of strings in quotes, which keeps their digits.
	const texts = JSON.parse(text.replace(/"[^"\\]*(?:\\.[^"\\]*)*"|-?[0-9][0-9.eE+-]*/g,
		(token) => token[0] === '"' ? token : `"${token}"`));
	return withMoney(value, texts, '');
}
