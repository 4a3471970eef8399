# Makes SVG of the ```sequence blocks of a page in Markdown, and passes the rest on.
#
#     A | B | C           the columns
#     1 -> 2: text        a call            1 --> 2: text   an answer
#     1 -x 2: text        a call that does not arrive; 1 --x 2: text, an answer
#     2: text             what column 2 does
#     ...: text           time goes by
function escape(text)
{
	gsub(/&/, "\\&amp;", text)
	gsub(/</, "\\&lt;", text)
	gsub(/>/, "\\&gt;", text)
	return text
}
function put(text) { svg = svg text "\n" }
function x_of(column) { return WIDTH * (column - 0.5) }
function say(x, at, class, text)
{
	put("<text x=\"" x "\" y=\"" at "\" class=\"" class "\">" escape(text) "</text>")
}
function head(   i)
{
	count = split($0, names, / *\| */)
	for (i = 1; i <= count; i++) {
		put("<rect x=\"" (x_of(i) - 80) "\" y=\"4\" width=\"160\" height=\"30\" rx=\"5\" class=\"who\"/>")
		say(x_of(i), 24, "name", names[i])
	}
	y = 42
}
function arrow(   part, from, to, dashed, lost, way, end)
{
	split($0, part, / +/)
	from = part[1]
	to = part[3] + 0
	dashed = part[2] ~ /^--/
	lost = part[2] ~ /x$/
	way = to > from ? 1 : -1
	end = lost ? x_of(from) + way * WIDTH * 0.75 : x_of(to) - way * 9
	y += 40
	put("<line x1=\"" x_of(from) "\" y1=\"" y "\" x2=\"" end "\" y2=\"" y "\" class=\"" \
		(lost ? "lost" : "call") (dashed ? " answer" : "") "\"/>")
	if (lost)
		put("<path d=\"M" (end - 6) " " (y - 6) "l12 12m0 -12l-12 12\" class=\"lost\"/>")
	else
		put("<path d=\"M" x_of(to) " " y "l" (-way * 10) " -5v10z\" class=\"tip\"/>")
	sub(/^[^:]*: */, "")
	say((x_of(from) + (lost ? end - way * 10 : x_of(to))) / 2, y - 7, "text", $0)
}
function note(   column)
{
	column = $0 + 0
	y += 14
	put("<rect x=\"" (x_of(column) - WIDTH * 0.47) "\" y=\"" y "\" width=\"" WIDTH * 0.94 \
		"\" height=\"26\" rx=\"4\" class=\"note\"/>")
	sub(/^[^:]*: */, "")
	say(x_of(column), y + 18, "text", $0)
	y += 26
}
function gap()
{
	y += 14
	put("<rect x=\"0\" y=\"" y "\" width=\"" WIDTH * count "\" height=\"26\" class=\"gap\"/>")
	sub(/^[^:]*: */, "")
	say(WIDTH * count / 2, y + 18, "text", $0)
	y += 26
}
function finish(   i, lines)
{
	y += 16
	for (i = 1; i <= count; i++)
		lines = lines "<line x1=\"" x_of(i) "\" y1=\"34\" x2=\"" x_of(i) "\" y2=\"" y "\" class=\"life\"/>\n"
	printf "<figure>\n<svg viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" role=\"img\" aria-label=\"what is sent when\">\n%s%s</svg>\n</figure>\n", \
		WIDTH * count, y + 2, WIDTH * count, y + 2, lines, svg
}
BEGIN { WIDTH = 290 }
/^```sequence$/ { on = 1; svg = ""; count = 0; next }
on && /^```$/ { finish(); on = 0; next }
on && !count { head(); next }
on && /^\.\.\.:/ { gap(); next }
on && /^[1-9] --?[>x] [1-9]:/ { arrow(); next }
on && /^[1-9]:/ { note(); next }
on { print "pictures.awk: " FILENAME ":" FNR ": " $0 > "/dev/stderr"; exit 1 }
{ print }
