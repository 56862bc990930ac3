"""Small files of SAS, which pyreadstat reads but does not write: by the C functions of ReadStat that it is built with."""

import ctypes
from pathlib import Path

TEXT, NUMBER, WIDTH = 0, 5, 8  # ReadStat's numbers for types


def write_sas7bdat(path, columns, rows):
    """``columns``: (format, label) by name; a format with a dollar sign is of texts."""
    import pyreadstat

    (library,) = Path(pyreadstat.__file__).parent.glob("_readstat_writer*.so")
    readstat = ctypes.CDLL(str(library))
    written = bytearray()

    @ctypes.CFUNCTYPE(ctypes.c_ssize_t, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p)
    def write(data, size, _):
        written.extend(ctypes.string_at(data, size))
        return size

    readstat.readstat_writer_init.restype = readstat.readstat_add_variable.restype = ctypes.c_void_p
    writer = ctypes.c_void_p(readstat.readstat_writer_init())
    readstat.readstat_set_data_writer(writer, write)
    variables = []
    for name, (form, label) in columns.items():
        kind = TEXT if form.startswith("$") else NUMBER
        made = readstat.readstat_add_variable(writer, name.encode(), kind, ctypes.c_size_t(WIDTH))
        variables.append(ctypes.c_void_p(made))
        readstat.readstat_variable_set_format(variables[-1], form.encode())
        readstat.readstat_variable_set_label(variables[-1], label.encode())
    assert readstat.readstat_begin_writing_sas7bdat(writer, None, ctypes.c_long(len(rows))) == 0
    for row in rows:
        readstat.readstat_begin_row(writer)
        for variable, value in zip(variables, row, strict=True):
            if value is None:
                readstat.readstat_insert_missing_value(writer, variable)
            elif isinstance(value, str):
                readstat.readstat_insert_string_value(writer, variable, value.encode())
            else:
                readstat.readstat_insert_double_value(writer, variable, ctypes.c_double(value))
        assert readstat.readstat_end_row(writer) == 0
    assert readstat.readstat_end_writing(writer) == 0
    readstat.readstat_writer_free(writer)
    path.write_bytes(written)
