#include "console/html/chart.h"

#include "base/buffer.h"

#include <inttypes.h>
#include <stdio.h>

/* Units of the drawing, which is stretched to the width of the page. */
#define WIDTH  3000
#define HEIGHT 1000
/* Of a bar, so that a small value is visible, too. */
#define LEAST_HEIGHT 4

#define POINTS_TEXT_MAX 16384

/* The values that the drawing spans, 0 among them. */
struct span {
	sum_t least;
	sum_t most;
};

static struct span span_of(const struct chart *chart)
{
	struct span span = {0, 0};

	for (unsigned int i = 0; i < chart->series_count; i++) {
		for (unsigned int point = 0; point < chart->points; point++) {
			const sum_t value = chart->series[i].values[point];

			span.least = value < span.least ? value : span.least;
			span.most = value > span.most ? value : span.most;
		}
	}
	return span;
}

/* Returns the distance of @value from the top. */
static int height_of(const struct span *span, sum_t value)
{
	return (int)((span->most - value) * HEIGHT / (span->most - span->least));
}

static int left_of(const struct chart *chart, unsigned int point)
{
	return (int)(WIDTH * point / chart->points);
}

static void write_number(const struct chart *chart, sum_t value, char text[SUM_TEXT_MAX])
{
	if (chart->money)
		sum_format(value, 2, text);
	else
		snprintf(text, SUM_TEXT_MAX, "%" PRId64, (int64_t)value);
}

/* html_attribute() with a number. */
#define NUMBER_ATTRIBUTE(html, name, number)                                                       \
	do {                                                                                       \
		char number_text[16];                                                              \
		snprintf(number_text, sizeof(number_text), "%d", (number));                        \
		html_attribute(html, name, number_text);                                           \
	} while (0)

/* Writes the bars of a series. @place of @places: where they stand beside the bars of other series. */
static void write_bars(struct html *html, const struct chart *chart, const struct span *span,
	const struct chart_series *series, unsigned int place, unsigned int places)
{
	for (unsigned int point = 0; point < chart->points; point++) {
		const int zero = height_of(span, 0), end = height_of(span, series->values[point]);
		const int height = zero < end ? end - zero : zero - end;
		const int left = left_of(chart, point), all = left_of(chart, point + 1) - left;
		/* A fifth of the room is between the points. */
		const int width = all * 4 / 5 / (int)places;

		if (!series->values[point])
			continue;
		html_open(html, "rect");
		html_attribute(html, "class", series->class);
		NUMBER_ATTRIBUTE(html, "x", left + all / 10 + width * (int)place);
		NUMBER_ATTRIBUTE(html, "y", zero < end ? zero : end);
		NUMBER_ATTRIBUTE(html, "width", width > 0 ? width : 1);
		NUMBER_ATTRIBUTE(html, "height", height > LEAST_HEIGHT ? height : LEAST_HEIGHT);
		html_close(html);
	}
}

static void write_line(struct html *html, const struct chart *chart, const struct span *span,
	const struct chart_series *series)
{
	struct buffer points;

	buffer_init(&points, POINTS_TEXT_MAX);
	for (unsigned int point = 0; point < chart->points; point++)
		buffer_printf(&points, "%s%d,%d", point ? " " : "",
			(left_of(chart, point) + left_of(chart, point + 1)) / 2,
			height_of(span, series->values[point]));
	buffer_append(&points, "", 1);
	html->out->failed |= points.failed;
	if (!points.failed) {
		html_open(html, "polyline");
		html_attribute(html, "class", series->class);
		html_attribute(html, "fill", "none");
		html_attribute(html, "vector-effect", "non-scaling-stroke");
		html_attribute(html, "points", (const char *)points.data);
		html_close(html);
	}
	buffer_free(&points);
}

static void write_zero(struct html *html, const struct span *span)
{
	html_open(html, "line");
	html_attribute(html, "class", "zero");
	html_attribute(html, "vector-effect", "non-scaling-stroke");
	html_attribute(html, "x1", "0");
	NUMBER_ATTRIBUTE(html, "x2", WIDTH);
	NUMBER_ATTRIBUTE(html, "y1", height_of(span, 0));
	NUMBER_ATTRIBUTE(html, "y2", height_of(span, 0));
	html_close(html);
}

static void write_drawing(struct html *html, const struct chart *chart, const struct span *span)
{
	char least[SUM_TEXT_MAX], most[SUM_TEXT_MAX], label[256];
	unsigned int places = 0, place = 0;

	write_number(chart, span->least, least);
	write_number(chart, span->most, most);
	snprintf(label, sizeof(label), "%.128s, %s to %s", chart->title, least, most);
	html_open(html, "svg");
	html_attribute(html, "role", "img");
	html_attribute(html, "aria-label", label);
	html_attribute(html, "viewBox", "-10 -10 3020 1020");
	html_attribute(html, "preserveAspectRatio", "none");
	for (unsigned int i = 0; i < chart->series_count; i++)
		places += chart->series[i].form == CHART_BARS;
	for (unsigned int i = 0; i < chart->series_count; i++) {
		if (chart->series[i].form == CHART_BARS)
			write_bars(html, chart, span, &chart->series[i], place++, places);
	}
	write_zero(html, span);
	for (unsigned int i = 0; i < chart->series_count; i++) {
		if (chart->series[i].form == CHART_LINE)
			write_line(html, chart, span, &chart->series[i]);
	}
	html_close(html);
}

static void write_legend(struct html *html, const struct chart *chart, const struct span *span)
{
	char most[SUM_TEXT_MAX];

	write_number(chart, span->most, most);
	html_open(html, "figcaption");
	html_element(html, "strong", "", chart->title);
	for (unsigned int i = 0; i < chart->series_count; i++) {
		html_open(html, "span");
		html_attribute(html, "class", "series");
		html_open(html, "span");
		html_attribute(html, "class", chart->series[i].class);
		html_attribute(html, "aria-hidden", "true");
		html_close(html);
		html_text(html, chart->series[i].name);
		html_close(html);
	}
	html_open(html, "span");
	html_attribute(html, "class", "most");
	html_printf(html, "up to %s", most);
	html_close(html);
	html_close(html);
}

bool chart_write(struct html *html, const struct chart *chart)
{
	const struct span span = span_of(chart);

	if (!chart->points || span.least == span.most)
		return false;
	html_open(html, "figure");
	html_attribute(html, "class", "chart");
	write_legend(html, chart, &span);
	write_drawing(html, chart, &span);
	html_open(html, "p");
	html_attribute(html, "class", "axis");
	html_element(html, "span", "", chart->first);
	html_element(html, "span", "", chart->last);
	html_close(html);
	html_close(html);
	return true;
}
