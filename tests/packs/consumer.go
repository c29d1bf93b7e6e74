// Package cdcsimpack has, beside the reader, a consumer of Canal JSON that keeps one table in memory.
package cdcsimpack

import (
	"encoding/json"
	"fmt"
)

// Consume applies the messages to a table. With bug it takes the first row of a message alone.
func Consume(messages []Message, table string, bug bool) (rows []Row) {
	byKey := map[string]Row{}
	for _, message := range messages {
		var value struct {
			Database, Table, Type string
			IsDdl                 bool
			PkNames               []string
			Data                  []Row
		}
		if json.Unmarshal(message.Value, &value) != nil || value.IsDdl || value.Database+"."+value.Table != table {
			continue
		}
		for index, row := range value.Data {
			if bug && index > 0 {
				break
			}
			key := []string{}
			for _, name := range value.PkNames {
				key = append(key, *row[name])
			}
			if byKey[fmt.Sprint(key)] = row; value.Type == "DELETE" {
				delete(byKey, fmt.Sprint(key))
			}
		}
	}
	for _, row := range byKey {
		rows = append(rows, row)
	}
	return rows
}
