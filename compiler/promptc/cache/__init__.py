"""What is kept between processes: sealed files in a folder of the user's own, each of which may vanish at any time."""
