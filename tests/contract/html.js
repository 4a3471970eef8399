/*
 * html - makes a page of `redocly build-docs` one that asks nothing of any other server.
 *
 *   node html.js PAGE
 */
'use strict';

const fs = require('fs');

const SCRIPT = /<script src="https:\/\/cdn\.redocly\.com\/redoc\/[^"]*"[^>]*><\/script>/;
const LOGO = 'https://cdn.redoc.ly/redoc/logo-mini.svg';
const NO_LOGO = "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg'/%3E";

function main([path]) {
	const bundle = fs.readFileSync(require.resolve('redoc/bundles/redoc.standalone.js'), 'utf8');
	const page = fs.readFileSync(path, 'utf8');

	if (!SCRIPT.test(page) || !bundle.includes(LOGO))
		throw new Error('this Redoc is another one than html.js knows');
	fs.writeFileSync(path, page
		.replace(SCRIPT, () => `<script>${bundle.replace(/<\/script/g, '<\\/script')}</script>`)
		.replaceAll(LOGO, NO_LOGO));
}

main(process.argv.slice(2));
