"""Java's text of numbers and bytes, `BigDecimal`, and the order of a `HashMap`."""
