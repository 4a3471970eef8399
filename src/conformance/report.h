/*
 * report - writes the result of an exam as TAP or JUnit XML.
 */
#ifndef CONFORMANCE_REPORT_H
#define CONFORMANCE_REPORT_H

#include "conformance/exam.h"

#include <stdio.h>

#define EXAM_DETAIL_SIZE 128

/*
 * Writes the numbers of failed cases, and of cases that were not judged or not run, to @detail.
 * Returns false if all cases passed or were skipped.
 */
bool exam_detail(const struct exam *exam, char detail[EXAM_DETAIL_SIZE]);

/*
 * Writes the findings that the operator should look at although no case failed. Returns false if
 * there is nothing.
 */
#define EXAM_WARNING_SIZE 320
bool exam_warning(const struct exam *exam, char text[EXAM_WARNING_SIZE]);

/* Write to @file; the caller looks for errors of the file. */
void exam_write_tap(const struct exam *exam, FILE *file);
void exam_write_junit(const struct exam *exam, FILE *file);

#endif
