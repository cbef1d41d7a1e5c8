"""FastAPI: notes as its tutorial writes a resource."""
import sys

import uvicorn
from fastapi import FastAPI, HTTPException, Response
from pydantic import BaseModel


class Draft(BaseModel):
    title: str
    done: bool = False


class Note(Draft):
    id: int


app = FastAPI(title="Notes")
notes = {1: Note(id=1, title="First"), 2: Note(id=2, title="Second", done=True)}


def found(note_id: int) -> Note:
    if note_id not in notes:
        raise HTTPException(404, "no such note")
    return notes[note_id]


@app.get("/notes")
def list_notes() -> list[Note]:
    return list(notes.values())


@app.post("/notes", status_code=201)
def create_note(draft: Draft, response: Response) -> Note:
    note = Note(id=max(notes, default=0) + 1, **draft.model_dump())
    notes[note.id] = note
    response.headers["Location"] = f"/notes/{note.id}"
    return note


@app.get("/notes/{note_id}")
def get_note(note_id: int) -> Note:
    return found(note_id)


@app.put("/notes/{note_id}")
def replace_note(note_id: int, draft: Draft) -> Note:
    found(note_id)
    notes[note_id] = Note(id=note_id, **draft.model_dump())
    return notes[note_id]


@app.delete("/notes/{note_id}", status_code=204)
def remove_note(note_id: int) -> None:
    found(note_id)
    del notes[note_id]


uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[1]), log_level="error")
