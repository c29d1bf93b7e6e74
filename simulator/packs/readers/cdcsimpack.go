// Package cdcsimpack reads what `cdcsim pack` writes. It needs Go 1.23 and its standard library; copy it.
package cdcsimpack

import (
	"archive/zip"
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"slices"
)

// Bytes are those of a key, a header or a value; nil where there is none.
type Bytes []byte

// UnmarshalJSON takes a text, or {"base64": "…"}.
func (b *Bytes) UnmarshalJSON(data []byte) (err error) {
	var text *string
	if data[0] == '{' {
		return json.Unmarshal(data, &struct{ Base64 *[]byte }{(*[]byte)(b)})
	}
	if err = json.Unmarshal(data, &text); text != nil {
		*b = []byte(*text)
	}
	return err
}

// Message is one message; Partition, Timestamp and Tag are nil where the pack has none.
type Message struct {
	Topic                string
	Partition, Timestamp *int64
	Key, Value           Bytes
	Headers              [][2]Bytes
	Tag                  *string
}

// Row has by column its text as the database's client prints it, or nil.
type Row map[string]*string

// Table is a table after all messages.
type Table struct {
	Table, File string
	Key         []string
	Columns     map[string]string
	Rows        []Row `json:"-"`
}

// Pack is what the file holds. Messages are in the order of the stream, which is that of each partition, too.
type Pack struct {
	Messages []Message
	Tables   map[string]Table
}

// Open reads a file.
func Open(path string) (*Pack, error) {
	archive, err := zip.OpenReader(path)
	if err != nil {
		return nil, err
	}
	defer archive.Close()
	manifests, err := lines[struct {
		Pack     int
		Messages struct{ File string }
		Tables   []Table
	}](archive, "manifest.json")
	if err == nil && manifests[0].Pack != 1 {
		err = fmt.Errorf("%s is a pack of version %d; this reads version 1", path, manifests[0].Pack)
	}
	if err != nil {
		return nil, err
	}
	pack := &Pack{Tables: map[string]Table{}}
	if pack.Messages, err = lines[Message](archive, manifests[0].Messages.File); err != nil {
		return nil, err
	}
	for _, table := range manifests[0].Tables {
		if len(table.Key) == 0 {
			table.Key = slices.Sorted(maps.Keys(table.Columns))
		}
		if table.Rows, err = lines[Row](archive, table.File); err != nil {
			return nil, err
		}
		pack.Tables[table.Table] = table
	}
	return pack, nil
}

// Differences says what is wrong with the rows of a table; nil if nothing is. A value is right as the same number, too.
func (p *Pack) Differences(table string, rows []Row) (problems []string) {
	expected, known := p.Tables[table]
	if !known {
		return []string{"no table " + table + " in the pack"}
	}
	wanted := map[string][]Row{}
	for _, row := range expected.Rows {
		wanted[expected.key(row)] = append(wanted[expected.key(row)], row)
	}
	for _, row := range rows {
		key := expected.key(row)
		if len(wanted[key]) == 0 {
			wanted[key] = []Row{nil}
			problems = append(problems, key+"is not expected, or there twice")
		}
		for column, right := range wanted[key][0] {
			if !same(right, row[column]) {
				problems = append(problems, key+column+": expected "+show(right)+", not "+show(row[column]))
			}
		}
		wanted[key] = wanted[key][1:]
	}
	for key, missing := range wanted {
		problems = append(problems, slices.Repeat([]string{key + "is missing"}, len(missing))...)
	}
	return problems
}

func (t Table) key(row Row) (text string) {
	for _, column := range t.Key {
		text += column + "=" + show(row[column]) + " "
	}
	return text
}

func same(right, value *string) bool {
	if right == nil || value == nil {
		return right == value
	}
	a, okA := new(big.Rat).SetString(*right)
	b, okB := new(big.Rat).SetString(*value)
	return *right == *value || okA && okB && a.Cmp(b) == 0
}

func show(value *string) string {
	text, _ := json.Marshal(value)
	return string(text)
}

func lines[T any](archive *zip.ReadCloser, name string) (all []T, err error) {
	file, err := archive.Open(name)
	if err != nil {
		return nil, fmt.Errorf("no pack: %w", err)
	}
	defer file.Close()
	for decoder := json.NewDecoder(file); err == nil && decoder.More(); {
		var one T
		err = decoder.Decode(&one)
		all = append(all, one)
	}
	return all, err
}
