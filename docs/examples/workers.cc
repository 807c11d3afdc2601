// SPDX-License-Identifier: MIT
//
// C++: one model, a worker for each thread, pages from memory; unique_ptr owns the handles.  Prints one fingerprint per line.
#include <pagededup.h>

#include <cstdio>
#include <memory>
#include <string>
#include <thread>
#include <vector>

struct Free {
	void operator()(pagededup_model *m) const
	{
		pagededup_model_free(m);
	}
	void operator()(pagededup_worker *w) const
	{
		pagededup_worker_free(w);
	}
};

int main()
{
	const std::vector<std::string> pages = {
		"<title>Mill</title><p>The tide mill at Pellow Creek grinds again, after eighty quiet years.",
		"<title>Mill</title><p>The tide mill at Pellow Creek grinds again, after ninety quiet years.",
	};
	pagededup_error error = {};
	error.size = sizeof error;
	pagededup_model *opened;
	if (pagededup_model_open(&opened, nullptr, &error) != PAGEDEDUP_OK) {
		std::fprintf(stderr, "%s\n", error.text);
		return 2;
	}
	const std::unique_ptr<pagededup_model, Free> model(opened);
	std::vector<uint64_t> fingerprints(pages.size());
	std::vector<std::thread> threads;
	for (size_t i = 0; i < pages.size(); i++)
		threads.emplace_back([&, i] {
			pagededup_worker *made;
			if (pagededup_worker_new(&made, model.get(), nullptr) != PAGEDEDUP_OK)
				return;
			const std::unique_ptr<pagededup_worker, Free> worker(made);
			pagededup_input input = {};
			input.size = sizeof input;
			input.body = pages[i].data();
			input.bytes = pages[i].size();
			input.content_type = "text/html; charset=utf-8";
			pagededup_page page = {};
			page.size = sizeof page;
			if (pagededup_sign(worker.get(), &input, &page, nullptr) == PAGEDEDUP_OK && page.bits)
				fingerprints[i] = page.fingerprint[0];
		});
	for (std::thread &t : threads)
		t.join();
	for (uint64_t f : fingerprints)
		std::printf("%016llx\n", static_cast<unsigned long long>(f));
	return 0;
}
