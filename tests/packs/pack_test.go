package cdcsimpack

import (
	"os"
	"testing"
)

func TestOrderItemsAreRight(t *testing.T) {
	pack, err := Open(os.Getenv("PACK"))
	if err != nil {
		t.Fatal(err)
	}
	rows := Consume(pack.Messages, "shop.order_items", os.Getenv("BUG") != "")
	for _, problem := range pack.Differences("shop.order_items", rows) {
		t.Error(problem)
	}
}
