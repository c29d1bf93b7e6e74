"""Huawei Cloud DRS: one module a format; `envelope` holds what they share, `systems` which sources DRS reads.
Read `json` first.
"""
