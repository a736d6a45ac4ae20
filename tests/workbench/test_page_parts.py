"""The page in a real browser: parts of the sentences, with their sizes, and types that come later."""

from .browsing import at_sentence, enter, go_to_a_mention, mentions, said
from .conftest import open_at
from .made import serving, settled


def part(page, name):
    return page.locator(f"#parts button[data-part={name}]")


def status(served, id):
    return served.client.get(f"/api/sentences/{id}").json()["status"]


def test_what_was_put_aside_is_found_again(window, served):
    page = window(7)
    page.keyboard.press("u")
    page.locator("#status", has_not_text="Sentence 7 ").wait_for()
    page.keyboard.press("s")
    page.locator("#parts button[data-part=skipped]", has_text="1").wait_for()
    go_to_a_mention(page)
    page.keyboard.press(".")
    page.keyboard.press("a")
    said(page, "is right. Stored.")
    part(page, "partial").filter(has_text="1").wait_for()
    assert part(page, "open").inner_text().split() == ["Open", "7"]
    assert part(page, "all").inner_text().split() == ["All", "9"]
    assert part(page, "decided").count() == 0
    part(page, "unsure").click()
    at_sentence(page, 7)
    assert page.locator("#queue-list button").count() == 1
    page.keyboard.press("n")  # the focus is on the sentence again
    part(page, "decided").filter(has_text="1").wait_for()
    assert status(served, 7) == "none"
    part(page, "skipped").click()
    page.locator("#status", has_text="Skipped").wait_for()


def test_in_order_the_list_is_around_the_sentence_on_the_page(window, served):
    page = window(5)
    page.get_by_text("In order", exact=True).click()
    current = page.locator("#queue-list [aria-current=true]")
    current.wait_for()
    listed = page.locator("#queue-list button").evaluate_all("all => all.map(one => +one.dataset.id)")
    assert listed == [1, 2, 3, 4, 5, 7, 8, 9, 10]  # 6 has the words of 1
    assert current.get_attribute("data-id") == "5"
    page.keyboard.press("ArrowDown")  # no other order: the key is for the sentence
    at_sentence(page, 7)
    assert page.locator("input[name=mode]:checked").input_value() == "order"
    page.locator("#queue-list [data-id='7'][aria-current=true]").wait_for()
    page.get_by_text("In order", exact=True).click()
    page.keyboard.press("Enter")
    page.locator("#progress", has_text="1 of ").wait_for()
    assert status(served, 7) != "new"


def test_escape_leaves_the_search_and_its_results(window, served):
    page = window(5)
    page.keyboard.press("/")
    page.keyboard.type("dog")
    page.locator("#queue-note", has_text="1 sentence in all").wait_for()
    page.keyboard.press("Escape")
    page.wait_for_selector("#search-row", state="hidden")
    page.locator("#queue-list button").nth(1).wait_for()
    assert page.locator("input[name=mode]:checked").input_value() == "teach"
    assert page.evaluate("document.activeElement.id") == "sentence"


def test_decided_sentences_need_a_look_for_a_type_that_comes_later(browser, tmp_path):
    with serving(tmp_path / "p.db", types={"PER": "P people"}) as served:
        settled(served.session)
        page = open_at(browser, served, 5)
        enter(page)
        page.locator("#progress", has_text="1 of ").wait_for()
        part(page, "open").click()
        page.click("#queue-list button[data-id='7']")
        at_sentence(page, 7)
        page.keyboard.press("n")
        page.locator("#progress", has_text="2 of ").wait_for()
        assert page.is_hidden("#look")
        served.client.post("/api/types", json={"action": "add", "name": "LOC", "description": "L places"})
        page.locator("#look", has_text="2 decided sentences need a look for LOC.").wait_for()
        settled(served.session)
        page.click("#look button")
        at_sentence(page, 5)
        page.locator("#status", has_text="nobody has looked for LOC").wait_for()
        page.wait_for_selector("#sentence .m.predicted")
        assert mentions(page) == [("PER", "Pat"), ("PER", "Pam")]
        assert mentions(page, "predicted") == [("LOC", "Lille")]
        enter(page)
        at_sentence(page, 7)
        page.keyboard.press("n")
        said(page, "No LOC here. Stored.")
        page.locator("#look").wait_for(state="hidden")
        assert served.client.get("/api/state").json()["counts"]["look"] == 0
        labels = served.client.get("/api/sentences/5").json()["labels"]
        assert [one["type"] for one in labels] == ["PER", "PER", "LOC"]


def test_each_later_type_is_looked_for_by_itself_and_the_queue_goes_on_then(browser, tmp_path):
    with serving(tmp_path / "p.db", types={"PER": "P people"}) as served:
        settled(served.session)
        page = open_at(browser, served, 5)
        enter(page)
        page.locator("#progress", has_text="1 of ").wait_for()
        for name, description in (("LOC", "L places"), ("GOD", "G gods")):
            served.client.post("/api/types", json={"action": "add", "name": name, "description": description})
        settled(served.session)
        page.locator("#look p").nth(1).wait_for()
        assert [line.split(". ")[0] for line in page.locator("#look p").all_inner_texts()] == [
            "1 decided sentence needs a look for LOC",
            "1 decided sentence needs a look for GOD",
        ]
        page.get_by_label("Look at them for GOD").click()
        at_sentence(page, 5)
        page.wait_for_selector("#sentence .m.predicted")
        enter(page)  # a look at the sentence is one for all types
        page.locator("#look").wait_for(state="hidden")
        page.locator("#status", has_not_text="Sentence 5 ").wait_for()
        assert page.locator("input[name=mode]:checked").input_value() == "teach"
        assert [one["type"] for one in served.client.get("/api/sentences/5").json()["labels"]] == ["PER", "PER", "LOC"]


def test_nothing_here_for_a_later_type_keeps_the_labels(browser, tmp_path):
    with serving(tmp_path / "p.db", types={"PER": "P people"}) as served:
        settled(served.session)
        page = open_at(browser, served, 5)
        enter(page)
        page.locator("#progress", has_text="1 of ").wait_for()
        served.client.post("/api/types", json={"action": "add", "name": "LOC", "description": "L places"})
        page.click("#look button")
        at_sentence(page, 5)
        page.keyboard.press("n")
        said(page, "No LOC here. Stored.")
        known = served.client.get("/api/sentences/5").json()
        assert [one["type"] for one in known["labels"]] == ["PER", "PER"]
        assert (known["status"], known["look"]) == ("labelled", [])


def test_a_look_that_is_skipped_keeps_the_labels_and_is_asked_for_again(browser, tmp_path):
    with serving(tmp_path / "p.db", types={"PER": "P people"}) as served:
        settled(served.session)
        page = open_at(browser, served, 5)
        enter(page)
        page.locator("#progress", has_text="1 of ").wait_for()
        served.client.post("/api/types", json={"action": "add", "name": "GOD", "description": "G gods"})
        settled(served.session)
        page.click("#look button")
        at_sentence(page, 5)
        assert page.inner_text("#accept span") == "Accept as it is"  # nothing new is predicted
        for key in ("s", "ArrowDown"):
            page.keyboard.press(key)
            said(page, "There is no other sentence here.")
            at_sentence(page, 5)
        known = served.client.get("/api/sentences/5").json()
        assert ([one["type"] for one in known["labels"]], known["look"]) == (["PER", "PER"], ["GOD"])
        enter(page)
        said(page, "All of them are looked at.")


def test_sentences_that_were_chosen_give_no_single_figure(browser, tmp_path):
    texts = [f"Pia{i} and Pam{i} saw Leeds" for i in range(60)]
    with serving(tmp_path / "p.db", texts) as served:
        settled(served.session)
        drawn = set(served.session._in_random_order[:5])
        for id in [id for id in range(1, 61) if id not in drawn][:20]:
            found = served.client.get(f"/api/sentences/{id}").json()["predictions"]
            labels = [{key: one[key] for key in ("start", "end", "type")} for one in found]
            answer = {"version": 0, "action": "label", "labels": labels}
            served.client.post(f"/api/sentences/{id}/decision", json=answer).raise_for_status()
        settled(served.session)
        quality = served.client.get("/api/state").json()["quality"]
        assert (quality["f1"], quality["n_drawn"]) == (1, 0)
        page = open_at(browser, served, 1)
        page.wait_for_selector("#quality .curve")
        assert page.inner_text("#quality strong") == "0.95 to 1.00"


def test_a_few_accepted_sentences_are_no_proof_of_quality(window, served):
    page = window(1)
    for n in range(1, 7):
        enter(page)
        page.locator("#progress", has_text=f"{n} of ").wait_for()
    settled(served.session)
    page.wait_for_selector("#quality .curve")
    said = page.inner_text("#quality strong")
    low, high = map(float, said.split(" to "))
    assert low < high - 0.1  # where there is a figure alone, it is read as what is known
    words = page.inner_text("#quality")
    assert "Of ten mentions, " in words  # the interval, in words
    assert "drawn at random" in words
    served.client.post("/api/types", json={"action": "add", "name": "GOD", "description": "G gods"})
    page.locator(
        "#quality .next", has_text="Label 5 of GOD: it has no label yet, so nothing is known of it."
    ).wait_for()
    served.client.post("/api/undo", json={"n": 1})
    n_before = served.client.get("/api/state").json()["counts"]["decisions"]
    page.keyboard.press("z")
    page.locator("#progress", has_text="5 of ").wait_for()
    assert served.client.get("/api/state").json()["counts"]["decisions"] == n_before


def test_without_a_type_nothing_is_decided(browser, tmp_path):
    with serving(tmp_path / "p.db", types={}) as served:
        page = open_at(browser, served, 5)
        page.wait_for_selector("#types[open]")
        page.keyboard.press("Escape")
        page.locator("#types").wait_for(state="hidden")
        page.keyboard.press("n")
        page.locator("#trouble", has_text="There is no type yet").wait_for()
        assert status(served, 5) == "new"
