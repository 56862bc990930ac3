"""What rules say of a record: literals, rules, nodes of trees, their text, and the candidates to choose from."""
