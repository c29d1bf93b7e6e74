"""How Java prints: numbers and bytes, `BigDecimal`, and the order of a `HashMap`."""
