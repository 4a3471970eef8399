# Makes a page of the HTML that cmark-gfm gives: headings that can be linked to, as GitHub names
# them, and a table of contents where <!-- contents --> stands.
function slug(text)
{
	text = tolower(text)
	gsub(/<[^>]*>|&[a-z]+;/, "", text)
	gsub(/[^a-z0-9 _-]/, "", text)
	gsub(/ /, "-", text)
	return text
}
match($0, /^<h[23]>/) {
	level = substr($0, 3, 1)
	text = $0
	gsub(/<\/?h[23]>/, "", text)
	$0 = "<h" level " id=\"" slug(text) "\">" text "</h" level ">"
	if (level == 2)
		contents = contents "<li><a href=\"#" slug(text) "\">" text "</a></li>\n"
}
{ lines[++count] = $0 }
END {
	while ((getline line < STYLE) > 0)
		style = style line "\n"
	printf "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n" \
		"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n" \
		"<title>%s</title>\n<style>\n%s</style>\n</head>\n<body>\n", TITLE, style
	for (i = 1; i <= count; i++)
		print lines[i] == "<!-- contents -->" ? "<nav>\n<ol>\n" contents "</ol>\n</nav>" : lines[i]
	print "</body>\n</html>"
}
