"""Clients of a release by openapi-generator, and the validator that says which values a schema takes.

rest_clients.py validate                    [{"schema": …, "values": […]}] → [[whether each is taken]]
rest_clients.py call FOLDER OLD NEW         [{"row": 1, "way": "take", "release": "old", "mark": "m", "value": …}] → [{"end": …}]
                                            of the way "operate", value says what a program does: see rest-programs.ts

Standard input is one line of JSON, and so is what is printed.
"""

import inspect
import json
import sys


def validate(asked):
    import jsonschema_rs

    told = []
    for each in asked:
        validator = jsonschema_rs.Draft202012Validator(each["schema"], validate_formats=True)
        told.append([validator.is_valid(value) for value in each["values"]])
    return told


def call(asked, folder, addresses):
    sys.path.insert(0, folder)
    import released

    def open_api(address, token=None):
        return released.DefaultApi(released.ApiClient(released.Configuration(host=address, access_token=token)))

    apis = {name: open_api(address) for name, address in addresses.items()}
    signed = {name: open_api(address, "secret") for name, address in addresses.items()}
    return [
        operate(released, (signed if each["value"].get("isSigned") else apis)[each["release"]], **each)
        if each["way"] == "operate"
        else call_once(released, apis[each["release"]], **each)
        for each in asked
    ]


def operate(released, api, row, mark, value, **_):
    method = getattr(api, f"operate{row}_with_http_info")
    given = {"q": value["q"]} if "q" in value else {}
    names = inspect.signature(method).parameters
    given.update({"thing": released.Thing.from_dict({"a": "x"})} if "thing" in names else {"body": "<a/>"})
    fields = {"X-Mark": mark, **({"Accept": value["accept"]} if "accept" in value else {})}
    try:
        answer = method(**given, _headers=fields, _content_type=value.get("type"))
    except released.ApiException as thrown:
        return {"end": "refused", "status": thrown.status, "why": str(thrown.body)}
    except (ValueError, TypeError) as thrown:
        return {"end": "client", "why": str(thrown)}
    told = api.api_client.sanitize_for_serialization(answer.data)
    return {"end": "ok", "status": answer.status_code, "value": told, "tag": answer.headers.get("etag")}


def call_once(released, api, row, way, mark, value, **_):
    about = {"_headers": {"X-Mark": mark}}
    if way == "take":
        try:
            thing = getattr(released, f"Thing{row}").from_dict(value)
        except ValueError as thrown:
            return {"end": "unwritable", "why": str(thrown)}
        try:
            getattr(api, f"take{row}")(thing, **about)
        except released.ApiException as thrown:
            return {"end": "refused", "why": str(thrown.body)}
        return {"end": "ok"}
    try:
        thing = getattr(api, f"give{row}")(**about)
    except (ValueError, released.ApiException) as thrown:
        return {"end": "client", "why": str(thrown)}
    return {"end": "ok", "value": api.api_client.sanitize_for_serialization(thing)}


if __name__ == "__main__":
    given = json.load(sys.stdin)
    if sys.argv[1] == "validate":
        said = validate(given)
    else:
        said = call(given, sys.argv[2], {"old": sys.argv[3], "new": sys.argv[4]})
    print(json.dumps(said))
