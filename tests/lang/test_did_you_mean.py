"""The known word that was meant."""

from phaseline.lang.did_you_mean import closest, did_you_mean, suggestion


def test_case_is_no_difference_and_a_synonym_is_known_before_it_is_near() -> None:
    assert closest("WEB", ["db", "web"]) == "web"
    assert closest("int", ["integer", "print"], {"int": "integer"}) == "integer"
    assert closest("int", ["print"], {"int": "integer"}) == "print"


def test_the_last_part_of_a_dotted_name_is_enough() -> None:
    assert closest("webservr", ["cloudify.nodes.WebServer", "cloudify.nodes.Compute"]) == "cloudify.nodes.WebServer"
    assert closest("serv", ["cloudify.nodes.WebServer"]) is None


def test_a_stricter_caller_gets_fewer() -> None:
    assert closest("scaling", ["scale"]) == "scale"
    assert closest("scaling", ["scale"], near=0.7) is None


def test_both_sentences_are_empty_where_nothing_is_near() -> None:
    assert (did_you_mean("instal", ["install"]), suggestion("instal", ["install"])) == (
        "did you mean 'install'?",
        "did you mean 'install'? ",
    )
    assert (did_you_mean("x", ["install"]), suggestion("x", ())) == ("", "")
