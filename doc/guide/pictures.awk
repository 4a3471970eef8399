# Makes SVG of the ```sequence blocks of a page in Markdown, and passes the rest on.
#
#     A | B | C           the columns
#     1 -> 2: text        a call            1 --> 2: text   an answer
#     1 -x 2: text        a call that does not arrive; 1 --x 2: text, an answer
#     2: text             what column 2 does
#     ...: text           time goes by
#
# A picture is drawn twice: for a wide screen with each text at its arrow or its column; for a phone with
# narrow columns, and each text on a line of its own.
function escape(text)
{
	gsub(/&/, "\\&amp;", text)
	gsub(/</, "\\&lt;", text)
	gsub(/>/, "\\&gt;", text)
	return text
}
function put(text) { svg = svg text "\n" }
function x_of(column) { return width * (column - 0.5) }
function say(x, at, class, text)
{
	put("<text x=\"" x "\" y=\"" at "\" class=\"" class "\">" escape(text) "</text>")
}
function box(x, at, wide, high, class)
{
	put("<rect x=\"" x "\" y=\"" at "\" width=\"" wide "\" height=\"" high "\" rx=\"4\" class=\"" class "\"/>")
}
# The text after the colon.
function text_of(line)
{
	sub(/^[^:]*: */, "", line)
	return line
}
function head(line,   i, half)
{
	count = split(line, names, / *\| */)
	half = narrow ? width / 2 - 3 : 80
	for (i = 1; i <= count; i++) {
		box(x_of(i) - half, 4, 2 * half, 30, "who")
		say(x_of(i), 24, "name", names[i])
	}
	y = 42
}
function arrow(line,   part, from, to, dashed, lost, way, end)
{
	split(line, part, / +/)
	from = part[1]
	to = part[3] + 0
	dashed = part[2] ~ /^--/
	lost = part[2] ~ /x$/
	way = to > from ? 1 : -1
	end = lost ? x_of(from) + way * width * 0.75 : x_of(to) - way * 9
	y += 40
	put("<line x1=\"" x_of(from) "\" y1=\"" y "\" x2=\"" end "\" y2=\"" y "\" class=\"" \
		(lost ? "lost" : "call") (dashed ? " answer" : "") "\"/>")
	if (lost)
		put("<path d=\"M" (end - 6) " " (y - 6) "l12 12m0 -12l-12 12\" class=\"lost\"/>")
	else
		put("<path d=\"M" x_of(to) " " y "l" (-way * 10) " -5v10z\" class=\"tip\"/>")
	if (narrow)
		line_of(text_of(line), y - 9)
	else
		say((x_of(from) + (lost ? end - way * 10 : x_of(to))) / 2, y - 7, "text", text_of(line))
}
# A text in the middle, on a ground that hides the columns' lines.
function line_of(text, at)
{
	box(width * count / 2 - 3.6 * length(text) - 4, at - 13, 7.2 * length(text) + 8, 17, "ground")
	say(width * count / 2, at, "text", text)
}
function note(line,   column)
{
	column = line + 0
	y += 14
	if (narrow) {
		# At its column a point; a text of this width fits only across all columns.
		box(2, y + 8, width * count - 4, 26, "note")
		put("<circle cx=\"" x_of(column) "\" cy=\"" (y + 2) "\" r=\"5\" class=\"tip\"/>")
		say(width * count / 2, y + 26, "text", text_of(line))
		y += 36
		return
	}
	box(x_of(column) - width * 0.47, y, width * 0.94, 26, "note")
	say(x_of(column), y + 18, "text", text_of(line))
	y += 26
}
function gap(line)
{
	y += 14
	box(0, y, width * count, 26, "gap")
	say(width * count / 2, y + 18, "text", text_of(line))
	y += 26
}
function draw(   i, lines)
{
	svg = ""
	head(source[1])
	for (i = 2; i <= size; i++) {
		if (source[i] ~ /^\.\.\.:/)
			gap(source[i])
		else if (source[i] ~ /^[1-9] --?[>x] [1-9]:/)
			arrow(source[i])
		else
			note(source[i])
	}
	y += 16
	for (i = 1; i <= count; i++)
		lines = lines "<line x1=\"" x_of(i) "\" y1=\"34\" x2=\"" x_of(i) "\" y2=\"" y "\" class=\"life\"/>\n"
	printf "<figure class=\"%s\">\n<svg viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" role=\"img\" aria-label=\"what is sent when\">\n%s%s</svg>\n</figure>\n", \
		narrow ? "narrow" : "wide", width * count, y + 2, width * count, y + 2, lines, svg
}
/^```sequence$/ { on = 1; size = 0; next }
on && /^```$/ {
	width = 290; narrow = 0; draw()
	width = 366 / count; narrow = 1; draw()
	on = 0
	next
}
on && size && !/^\.\.\.:/ && !/^[1-9]( --?[>x] [1-9])?:/ {
	print "pictures.awk: " FILENAME ":" FNR ": " $0 > "/dev/stderr"
	exit 1
}
on { source[++size] = $0; next }
{ print }
