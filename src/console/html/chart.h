/*
 * chart - bars and lines over days, as SVG. Below each chart stands a table with the same figures.
 *
 * Geometry is in presentation attributes and colours are in console.css, by the class of a series, so
 * that the CSP needs no inline style. Texts are HTML around the drawing, so that they keep their size on a
 * narrow screen.
 */
#ifndef CONSOLE_HTML_CHART_H
#define CONSOLE_HTML_CHART_H

#include "console/html/html.h"
#include "domain/money.h"

#define CHART_SERIES_MAX 4

enum chart_form { CHART_BARS, CHART_LINE };

struct chart_series {
	const char *name;  /* in the legend */
	const char *class; /* in console.css: "one" to "four" of bars, "line" of a line */
	enum chart_form form;
	const sum_t *values; /* one for each point */
};

struct chart {
	const char *title; /* read out by a screen reader, with the least and the greatest value */
	const struct chart_series *series;
	unsigned int series_count; /* at most CHART_SERIES_MAX */
	unsigned int points;
	const char *first; /* the labels of the first and the last point */
	const char *last;
	bool money; /* values are amounts in ten-thousandths; false: plain numbers */
};

/* Writes the chart. Without points, or if all values are 0, writes nothing and returns false. */
bool chart_write(struct html *html, const struct chart *chart);

#endif
