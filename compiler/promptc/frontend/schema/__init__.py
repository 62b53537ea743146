"""JSON Schema 2020-12 as the compiler reads it: what a schema may say, a fast verdict, faults with places, defaults."""
