#include "suites.h"

#include "wire/digest.h"

#include <string.h>

/* The examples of FIPS 180-4, in pieces of any size. */
START_TEST(digests_are_sha256)
{
	static const char long_text[] = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
	char text[DIGEST_TEXT_SIZE];
	struct digest digest;

	digest_begin(&digest);
	ck_assert(digest_text(&digest, text));
	ck_assert_str_eq(text, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
	digest_add(&digest, "ab", 2);
	digest_add(&digest, NULL, 0);
	digest_add(&digest, "c", 1);
	/* A digest that is read in between can be continued. */
	for (unsigned int i = 0; i < 2; i++) {
		ck_assert(digest_text(&digest, text));
		ck_assert_str_eq(text,
			"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
	}
	digest_add(&digest, long_text + 3, strlen(long_text) - 3);
	ck_assert(digest_text(&digest, text));
	ck_assert_str_eq(text, "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
	digest_end(&digest);
	ck_assert(!digest_text(&digest, text));
	ck_assert_str_eq(text, "");
	digest_add(&digest, "abc", 3);
	digest_end(&digest);
}
END_TEST

Suite *digest_suite(void)
{
	const TTest *const tests[] = {digests_are_sha256, NULL};

	return suite_make("digest", tests, 10);
}
