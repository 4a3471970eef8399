// The public names of the package. index.d.ts has their types.
export { sign, verify, SignatureError } from './signature.js';
export { amount, decode, units } from './money.js';
export { parseCallback, CallbackError } from './callback.js';
export { decide } from './rules.js';
export { callbacks } from './middleware.js';
export { Client, RefusedError, UnknownOutcomeError } from './client.js';
