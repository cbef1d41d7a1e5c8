// Go's net/http with the same SELECT on the same file and the same members, none of the semantics.
package main

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"os"
	"strings"

	_ "github.com/mattn/go-sqlite3"
)

const columns = `"id", "customer", "lines", "currency", "total", "note", "placedAt", "state", "paidAt", "carrier", "trackingNumber"`

type order struct {
	ID             string          `json:"id"`
	Customer       string          `json:"customer"`
	Lines          json.RawMessage `json:"lines"`
	Currency       string          `json:"currency"`
	Total          string          `json:"total"`
	Note           *string         `json:"note"`
	PlacedAt       string          `json:"placedAt"`
	State          string          `json:"state"`
	PaidAt         *string         `json:"paidAt"`
	Carrier        *string         `json:"carrier"`
	TrackingNumber *string         `json:"trackingNumber"`
}

type row interface{ Scan(...any) error }

func read(from row) (o order, err error) {
	var cents int64
	var lines string
	err = from.Scan(&o.ID, &o.Customer, &lines, &o.Currency, &cents, &o.Note, &o.PlacedAt, &o.State, &o.PaidAt, &o.Carrier, &o.TrackingNumber)
	o.Lines = json.RawMessage(lines)
	o.Total = fmt.Sprintf("%d.%02d", cents/100, cents%100)
	return
}

func main() {
	port, file := os.Args[1], os.Args[2]
	database, err := sql.Open("sqlite3", "file:"+file+"?_journal_mode=WAL")
	if err != nil {
		log.Fatal(err)
	}
	one, err := database.Prepare(`select ` + columns + ` from "orders" where "id" = ?`)
	if err != nil {
		log.Fatal(err)
	}
	page, err := database.Prepare(`select ` + columns + ` from "orders" order by "placedAt#order" desc, "id" asc limit 21`)
	if err != nil {
		log.Fatal(err)
	}
	http.HandleFunc("/api/orders/", func(w http.ResponseWriter, r *http.Request) {
		found, err := read(one.QueryRow(strings.TrimPrefix(r.URL.Path, "/api/orders/")))
		write(w, found, err)
	})
	http.HandleFunc("/api/orders", func(w http.ResponseWriter, r *http.Request) {
		rows, err := page.Query()
		if err != nil {
			write(w, nil, err)
			return
		}
		defer rows.Close()
		items := make([]order, 0, 21)
		for rows.Next() && err == nil {
			var each order
			each, err = read(rows)
			items = append(items, each)
		}
		if len(items) > 20 {
			items = items[:20]
		}
		write(w, map[string]any{"items": items}, err)
	})
	log.Fatal(http.ListenAndServe("127.0.0.1:"+port, nil))
}

func write(w http.ResponseWriter, value any, err error) {
	var text []byte
	if err == nil {
		text, err = json.Marshal(value)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Write(text)
}
