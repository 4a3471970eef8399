# Makes a page of the HTML that cmark-gfm gives: headings and error ids that can be linked to, as GitHub names
# them, cells that know their column for narrow screens, copy buttons (copy.js), and a table of contents where
# <!-- contents --> stands.
function slug(text)
{
	text = tolower(text)
	gsub(/<[^>]*>|&[a-z]+;/, "", text)
	gsub(/[^a-z0-9 _-]/, "", text)
	gsub(/ /, "-", text)
	return text
}
function file_of(path,   line, text)
{
	while ((getline line < path) > 0)
		text = text line "\n"
	return text
}
match($0, /^<h[23]>/) {
	level = substr($0, 3, 1)
	text = $0
	gsub(/<\/?h[23]>/, "", text)
	name = slug(text)
	$0 = "<h" level " id=\"" name "\">" text " <a class=\"anchor\" href=\"#" name "\" aria-label=\"link\">#</a></h" level ">"
	if (level == 2)
		contents = contents "<li><a href=\"#" name "\">" text "</a></li>\n"
}
# cmark-gfm writes each row and each cell on a line of its own.
/^<thead>/ { columns = 0 }
/^<th>/ {
	label = $0
	gsub(/<[^>]*>/, "", label)
	gsub(/"/, "\\&quot;", label)
	labels[++columns] = label
}
/^<tr>/ { column = 0 }
/^<td>/ {
	column++
	if (column == 1 && $0 ~ /^<td><code>[a-z_]+<\/code><\/td>$/) {
		name = slug($0)
		if (!(name in named))
			lines[count] = "<tr id=\"" name "\">"
		named[name] = 1
	}
	sub(/^<td>/, "<td data-label=\"" labels[column] "\">")
}
{ lines[++count] = $0 }
END {
	printf "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n" \
		"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n" \
		"<title>%s</title>\n<style>\n%s</style>\n</head>\n<body>\n<main>\n", TITLE, file_of(PARTS "/style.css")
	for (i = 1; i <= count; i++)
		print lines[i] == "<!-- contents -->" ? "<nav>\n<ol>\n" contents "</ol>\n</nav>" : lines[i]
	printf "</main>\n<script>\n%s</script>\n</body>\n</html>\n", file_of(PARTS "/copy.js")
}
