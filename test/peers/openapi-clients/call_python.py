"""What openapi-python-client makes of the description alone."""
import json
import sys

from generated import AuthenticatedClient
from generated.api.boats import v_2_create_boat, v_2_get_boat, v_2_launch_boat, v_2_list_boats, v_2_patch_boat
from generated.models import V2BoatDraft, V2BoatPatch, V2EngineSailDraft, V2EngineSailDraftKind, V2LaunchBoatInput

url, token = sys.argv[1:]
told = []
with AuthenticatedClient(base_url=url, token=token) as client:
    engine = V2EngineSailDraft(area=30, kind=V2EngineSailDraftKind.SAIL)
    draft = V2BoatDraft(name="Berta", berth=5, length="11.00", engine=engine, rate=None)
    made = v_2_create_boat.sync(client=client, body=draft)
    told += [made.engine.area, made.state.value]
    told.append(v_2_get_boat.sync(made.id, client=client).name)
    told += [boat.length for boat in v_2_list_boats.sync(client=client, lengthgte="11.00").items]
    change = V2BoatPatch(berth=6, note=None)
    changed = v_2_patch_boat.sync(made.id, client=client, body=change, if_match="*")
    told += [changed.berth, "note" in changed.to_dict()]
    refused = v_2_launch_boat.sync(made.id, client=client, body=V2LaunchBoatInput())
    told += [refused.status, refused.type_]
print(json.dumps(told, default=str))
