/* document - the OpenAPI document as the proxy and the generators need it. */
'use strict';

const fs = require('fs');
const yaml = require('js-yaml');

const METHODS = ['get', 'post', 'put', 'delete', 'patch', 'options', 'head', 'trace'];

function load(path) {
	return yaml.load(fs.readFileSync(path, 'utf8'));
}

/* What a local $ref names, or @node itself. */
function resolve(document, node) {
	let found = node;

	while (found && found.$ref)
		found = found.$ref.slice(2).split('/').reduce(
			(at, step) => at[step.replace(/~1/g, '/').replace(/~0/g, '~')], document);
	return found;
}

/* {path, method, operation} of every operation, in the document's order. */
function operations(document) {
	const found = [];

	for (const [path, item] of Object.entries(document.paths))
		for (const method of METHODS)
			if (item[method])
				found.push({ path, method, operation: item[method] });
	return found;
}

/* @document with only those paths that are served at {@variable}. */
function servedAt(document, variable) {
	const isServed = ([, item]) =>
		(item.servers || document.servers).some(({ url }) => url === `{${variable}}`);
	const served = JSON.parse(JSON.stringify(document));

	served.paths = Object.fromEntries(Object.entries(served.paths).filter(isServed));
	served.servers = [{ url: '/' }];
	for (const item of Object.values(served.paths))
		delete item.servers;
	return served;
}

/* Returns true if @schema lists the members of an object, so that a member that is not listed is
 * noticed. */
function tellsMembers(document, schema) {
	const found = resolve(document, schema);
	const parts = [...(found.allOf || []), ...(found.anyOf || []), ...(found.oneOf || [])];

	return Boolean(found.properties) || parts.some((part) => tellsMembers(document, part));
}

/*
 * Closes @schema: an object in it with a member that @schema does not list violates it. For readers
 * the document leaves objects open, since members may be added; the service as it is has no others.
 */
function close(document, schema, whole, seen) {
	const children = { ...schema.properties };

	if (whole && tellsMembers(document, schema)) {
		/* Beside a $ref the validator would overlook it. */
		if (schema.$ref) {
			schema.allOf = [{ $ref: schema.$ref }];
			delete schema.$ref;
		}
		schema.unevaluatedProperties = false;
	}
	for (const part of [...(schema.allOf || []), ...(schema.anyOf || []), ...(schema.oneOf || [])])
		close(document, part, false, seen);
	if (schema.items)
		children['[]'] = schema.items;
	for (const child of Object.values(children))
		close(document, child, true, seen);
	if (schema.$ref && !seen.has(schema.$ref)) {
		seen.add(schema.$ref);
		close(document, resolve(document, schema), false, seen);
	}
}

/* Closes the bodies of all answers of @document. */
function closeAnswers(document) {
	const seen = new Set();
	const answers = Object.values(document.components.responses || {});

	for (const { operation } of operations(document))
		answers.push(...Object.values(operation.responses));
	for (const answer of answers)
		for (const media of Object.values(answer.content || {}))
			close(document, media.schema, true, seen);
}

module.exports = { load, resolve, operations, servedAt, closeAnswers };
