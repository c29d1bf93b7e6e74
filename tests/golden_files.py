"""Which cases each golden file holds: (format and options, source) to the names of cases, None for all of the source.

A file with options shows the cases that they change.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

Files = Mapping[tuple[str, str], list[str] | None]

_ROWS: Final = [
    "insert several rows",
    "update another column of each row",
    "update nothing",
    "update nothing in the first and the last row",
    "update the key",
    "delete",
]

_DDL: Final = ["create database", "add column", "rename table"]

_VALUES: Final = ["null everywhere", "dates and times", "texts", "documents"]

_OLD: Final = [*_ROWS, *_VALUES, "unsigned integers about the bounds of signed ones", "integers at their bounds", *_DDL]

CANAL: Final[Files] = {
    ("canal-json", "mysql-8.0"): None,
    ("canal-json", "mysql-5.7"): [
        "insert",
        "null everywhere",
        "integers at their bounds",
        "decimals",
        "bits and years",
        "documents",
        "geometries",
    ],
    ("canal-json", "mariadb-10.11"): ["insert", "null everywhere"],
    ("canal-json,mysql_type_style=ddl_text", "mariadb-10.11"): [*_ROWS, *_DDL],
    ("canal-json,version=1.1.4", "mysql-5.7"): _OLD,
    ("canal-json,version=1.1.5,mysql_type_style=ddl_text", "mysql-5.7"): _OLD,
    ("canal-json,version=1.1.6", "mysql-5.7"): _OLD,
    ("canal-json,version=1.1.7", "mysql-8.0"): [*_ROWS, "null everywhere", "texts", "documents", *_DDL],
    ("canal-json,gtid=on", "mysql-8.0"): ["insert several rows", "a transaction on two tables", "add column"],
    ("canal-json,timezone=Asia/Shanghai", "mysql-8.0"): ["dates and times", "dates that are none"],
    ("canal-json,rows_per_message=2", "mysql-8.0"): [
        "insert several rows",
        "update another column of each row",
        "wide unsigned integers before a small row and a null one",
    ],
}

_TRACKED: Final = ["a transaction on two tables", "a row of a snapshot", "add column", "heartbeat"]

DTS: Final[Files] = {
    ("dts-avro", "mysql-8.0"): None,
    ("dts-avro", "mariadb-10.11"): ["insert", "null everywhere", "documents", "add column"],
    ("dts-avro,product=subscription", "mysql-8.0"): _TRACKED,
    ("dts-avro,product=subscription", "mariadb-10.11"): _TRACKED,
    ("dts-avro,schema_variant=A", "mysql-8.0"): ["insert", "create table"],
    ("dts-avro,heartbeat=on,schema_variant=A", "mysql-8.0"): ["heartbeat"],
    ("dts-avro,born_unit=ms", "mysql-8.0"): ["insert"],
    ("dts-avro,noop=on", "mysql-8.0"): ["heartbeat"],
    ("dts-avro,ddl_object=db", "mysql-8.0"): ["create table", "add column", "drop table"],
    ("dts-avro,framing=confluent,schema_id=258", "mysql-8.0"): ["insert", "add column"],
    ("dts-avro,kafka_key=partition_key", "mysql-8.0"): ["insert", "update a part of the key", "add column"],
    ("dts-avro,gtid=off,begin_commit=on,server_id=7,source_version=5.7.44-log", "mysql-5.7"): ["insert", "add column"],
    ("dts-avro,split_on_key_update=on", "mysql-8.0"): ["update one column", "update the key"],
    ("dts-avro", "oracle-21c"): None,
    ("dts-avro", "sqlserver-2022"): None,
    ("dts-avro,row_image=minimal", "mysql-8.0"): [
        "insert",
        "update one column",
        "update another column of each row",
        "update the key",
        "update without a key",
        "delete",
    ],
    ("dts-avro,source_type=DRDS,source_version=5.7.26-log", "mysql-5.7"): ["insert several rows", "update the key"],
    ("dts-avro,source_type=PPAS,source_version=14.13", "postgresql-14"): ["insert", "add column"],
    ("dts-avro,rds_hidden_pk=on", "mysql-8.0"): [
        "insert",
        "insert without a key",
        "update without a key",
        "delete without a key",
    ],
    ("dts-avro", "postgresql-16"): None,
    ("dts-avro", "mongodb-6.0"): None,
    ("dts-avro,mongodb_before=document", "mongodb-6.0"): ["update one column", "delete"],
    ("dts-avro,oracle_frac=us", "oracle-19c"): ["dates and times"],
    ("dts-avro,product=subscription", "oracle-19c"): _TRACKED,
    ("dts-avro,product=subscription", "sqlserver-2022"): _TRACKED,
    ("dts-avro,product=subscription", "postgresql-16"): _TRACKED,
    ("dts-avro,product=subscription", "mongodb-6.0"): ["a transaction on two tables", "drop table", "heartbeat"],
    ("dts-shareplex-json", "mysql-8.0"): None,
    ("dts-shareplex-json", "mariadb-10.11"): ["insert", "null everywhere", "documents"],
    ("dts-shareplex-json", "oracle-21c"): None,
    ("dts-shareplex-json", "postgresql-16"): None,
    ("dts-shareplex-json,ddl=on", "postgresql-16"): ["create table", "add column", "drop column", "truncate table"],
    ("dts-shareplex-json,split_on_key_update=on,kafka_key=partition_key", "mysql-8.0"): [
        "update one column",
        "update the key",
    ],
    ("dts-shareplex-json,supplemental=pk", "oracle-19c"): ["update one column", "update a part of the key"],
    ("dts-shareplex-json", "sqlserver-2022"): None,
    ("dts-shareplex-json,op_style=words,time_z=on,gtid=off", "mysql-8.0"): _ROWS,
    ("dts-shareplex-json,ins_nulls=omit", "mysql-8.0"): ["insert", "null everywhere", "a row of a snapshot"],
    ("dts-shareplex-json,ddl=on", "mysql-8.0"): ["create database", "add column", "drop column", "truncate table"],
    ("dts-shareplex-json,update_style=split", "mysql-8.0"): _ROWS,
    ("dts-shareplex-json,timestamp_zone=UTC,frac=pad,binary=hex", "mysql-8.0"): ["dates and times", "bytes"],
    ("dts-canal-json", "oracle-21c"): None,
    ("dts-canal-json,id_style=ts_offset", "mysql-8.0"): ["insert several rows", "add column"],
    ("dts-canal-json,kafka_key=partition_key", "mysql-8.0"): ["insert", "update a part of the key", "add column"],
    ("dts-canal-json", "postgresql-16"): None,
    ("dts-canal-json,mysql_type_params=on,frac=pad,binary=hex,table_name=schema", "postgresql-16"): [
        "insert",
        "dates and times",
        "bytes",
        "labels",
    ],
    ("dts-canal-json", "sqlserver-2022"): None,
    ("dts-canal-json,mysql_type_params=on,frac=pad", "oracle-19c"): ["insert", "dates and times"],
    ("dts-canal-json", "mysql-8.0"): None,
    ("dts-canal-json", "mariadb-10.11"): ["insert", "null everywhere", "documents", "add column"],
    ("dts-canal-json,images=before-2022-03-20", "mysql-8.0"): [
        "insert",
        "update one column",
        "update the key",
        "delete",
        "a row of a snapshot",
        "the page's delete of before 2022-03-20",
    ],
    ("dts-canal-json,images=before-2022-03-20,pre_update=normal", "mysql-8.0"): ["update one column", "delete"],
    ("dts-canal-json,null_members=null", "mysql-8.0"): [
        "insert",
        "insert without a key",
        "update one column",
        "delete",
        "create database",
        "add column",
        "the page's delete",
        "the page's statement",
    ],
    ("dts-canal-json,images=before-2022-03-20,null_members=null", "mysql-8.0"): ["update one column", "delete"],
    ("dts-canal-json,old_columns=changed", "mysql-8.0"): _ROWS,
    ("dts-canal-json,split_on_key_update=on", "mysql-8.0"): [
        "update one column",
        "update the key",
        "update the keys of several rows",
        "update a part of the key",
    ],
    ("dts-canal-json,gtid=on", "mysql-8.0"): ["insert several rows", "add column"],
    ("dts-canal-json,init_as_insert=on", "mysql-8.0"): ["a row of a snapshot"],
    ("dts-canal-json,mysql_type_params=on", "mysql-8.0"): ["null everywhere", "integers at their bounds"],
    ("dts-canal-json,mysql_type_unsigned=drop", "mysql-8.0"): ["integers at their bounds", "decimals"],
    ("dts-canal-json,unsigned_sql_type=by_value", "mysql-8.0"): ["unsigned integers about the bounds of signed ones"],
    ("dts-canal-json,sql_type=dts_number", "mysql-8.0"): ["null everywhere"],
    ("dts-canal-json,timestamp_zone=UTC,frac=pad", "mysql-8.0"): ["dates and times", "dates that are none"],
    ("dts-canal-json,binary=hex", "mysql-8.0"): ["bytes", "geometries"],
}

_OMS_DDL: Final = ["create table", "add column", "rename table", "truncate table", "drop table", "create index"]

OMS: Final[Files] = {
    ("oms-default", "oceanbase-mysql-4.3"): None,
    ("oms-default", "oceanbase-oracle-4.3"): None,
    ("oms-default", "oracle-19c"): ["insert", "update one column", "null everywhere"],
    ("oms-default", "mysql-8.0"): ["insert", "update one column", "a row of a snapshot", "add column"],
    ("oms-default,heartbeat=on", "oceanbase-mysql-4.3"): ["heartbeat"],
    ("oms-default,version=4,extended_meta=on", "oceanbase-mysql-4.3"): [
        "insert",
        "delete",
        "a row of a snapshot",
        *_OMS_DDL,
    ],
    ("oms-default,legacy_types=on", "oceanbase-mysql-4.3"): [
        "bits and years",
        "dates and times",
        "dates that are none",
    ],
    ("oms-default,sequence_enabled=off,include_tenant_in_db=off,db_type=OCEANBASE", "oceanbase-mysql-4.3"): ["insert"],
    ("oms-default,split_key_update=off", "oceanbase-mysql-4.3"): ["update the key", "update the key and a column"],
    ("oms-default,ob_lob_nulls=on", "oceanbase-mysql-4.3"): [
        "update one column",
        "update null to a value",
        "update a value to null",
        "delete",
    ],
    ("oms-default,kafka_key=json", "oceanbase-mysql-4.3"): [
        "insert",
        "insert without a key",
        "update a part of the key",
    ],
    ("oms-default-extend-column-type", "oceanbase-mysql-4.3"): None,
    ("oms-default-extend-column-type", "oceanbase-oracle-4.3"): None,
    ("oms-default-extend-column-type", "oracle-19c"): ["insert", "update one column", "null everywhere"],
    ("oms-default-extend-column-type", "mysql-8.0"): ["update one column"],
    ("oms-default-extend-column-type,bigint_type_name=INT64", "oceanbase-mysql-4.3"): ["integers at their bounds"],
    ("oms-canal-json", "oceanbase-mysql-4.3"): None,
    ("oms-canal-json", "oceanbase-oracle-4.3"): None,
    ("oms-canal-json", "oracle-19c"): ["insert", "update one column", "null everywhere"],
    ("oms-canal-json", "mysql-8.0"): ["insert", "update one column"],
    ("oms-canal-json,version=4", "oceanbase-mysql-4.3"): _OMS_DDL,
    ("oms-canal-json,canal_full_type=INSERT", "oceanbase-mysql-4.3"): ["a row of a snapshot"],
    ("oms-canal-json,map_order=schema", "oceanbase-mysql-4.3"): ["insert", "update another column of each row"],
    ("oms-canal-json,ob_lob_nulls=on", "oceanbase-mysql-4.3"): ["update one column", "update null to a value"],
    ("oms-dataworks", "oceanbase-mysql-4.3"): None,
    ("oms-dataworks", "oceanbase-oracle-4.3"): None,
    ("oms-dataworks", "oracle-19c"): ["insert", "update one column", "null everywhere"],
    ("oms-dataworks", "mysql-8.0"): ["insert", "update one column"],
    ("oms-dataworks,heartbeat=on,business_name=CRM", "oceanbase-mysql-4.3"): ["insert", "heartbeat"],
    ("oms-dataworks,sequence_enabled=off", "oceanbase-mysql-4.3"): ["delete"],
    ("oms-dataworks,legacy_types=on", "oceanbase-mysql-4.3"): ["bits and years", "dates and times"],
    ("oms-shareplex", "oceanbase-mysql-4.3"): None,
    ("oms-shareplex", "oceanbase-oracle-4.3"): None,
    ("oms-shareplex", "oracle-19c"): ["insert", "update one column", "null everywhere"],
    ("oms-shareplex", "mysql-8.0"): ["insert", "update one column"],
    ("oms-shareplex,transaction_enabled=off,sequence_enabled=off", "oceanbase-mysql-4.3"): ["insert several rows"],
    ("oms-shareplex,server_timezone=UTC,map_order=schema", "oceanbase-mysql-4.3"): ["insert", "update one column"],
}

_DRS_IMAGES: Final = [
    "insert",
    "update one column",
    "update a value to null",
    "update the key",
    "delete",
    "update another column of each row",
]
DRS: Final[Files] = {
    ("drs-json", "mysql-8.0"): None,
    ("drs-json", "mysql-5.7"): ["insert", "documents", "geometries"],
    ("drs-json,column_order=table", "mysql-8.0"): ["update one column", "names that need escapes"],
    ("drs-json,ddl_table=name", "mysql-8.0"): _DDL,
    ("drs-json,init_binary=padded", "mysql-8.0"): ["a row of a snapshot", "bytes"],
    ("drs-json,pk_update=split", "mysql-8.0"): ["update one column", "update the key", "update a part of the key"],
    ("drs-json,sync_ddl=off", "mysql-8.0"): ["insert", *_DDL],
    ("drs-json-c", "mysql-8.0"): None,
    ("drs-json-c,init_as_insert=on", "mysql-8.0"): ["a row of a snapshot"],
    ("drs-json-c,timezone=America/New_York", "mysql-8.0"): ["dates and times", "dates that are none"],
    ("drs-avro", "mysql-8.0"): None,
    ("drs-avro,full_sync_op=INIT", "mysql-8.0"): ["a row of a snapshot"],
    ("drs-json", "oracle-19c"): None,
    ("drs-avro", "oracle-19c"): None,
    ("drs-json,supplemental=pk_ui", "oracle-19c"): _DRS_IMAGES,
    ("drs-avro,supplemental=pk_ui", "oracle-19c"): ["update one column"],
    ("drs-json,raw=send", "oracle-19c"): ["bytes"],
    ("drs-json,layout_version=oracle-legacy", "oracle-19c"): ["insert", "update one column", "delete", "add column"],
    ("drs-json,blank_as=null,full_sync=on", "oracle-19c"): ["insert", "a row of a snapshot", "add column"],
    ("drs-json", "sqlserver-2022"): None,
    ("drs-avro", "sqlserver-2022"): None,
    ("drs-json,sync_ddl=on", "sqlserver-2022"): _DDL,
    ("drs-json", "postgresql-16"): None,
    ("drs-avro", "postgresql-16"): None,
    ("drs-json,replica_identity=default", "postgresql-16"): [
        *_DRS_IMAGES,
        "update without a key",
        "delete without a key",
    ],
    ("drs-json,sync_ddl=on", "postgresql-16"): _DDL,
    ("drs-json,timezone=Asia/Kolkata", "postgresql-16"): ["dates and times"],
    ("drs-json", "gaussdb-505"): None,
    ("drs-avro", "gaussdb-505"): None,
    ("drs-json,gaussdb=distributed", "gaussdb-505"): ["insert"],
    ("drs-json", "mongodb-6.0"): None,
    ("drs-json,full_sync=on", "mongodb-6.0"): ["insert", "a row of a snapshot"],
}

_BATCHES: Final = [
    "insert several rows",
    "update another column of each row",
    "update nothing in the first and the last row",
    "delete several rows",
    "a transaction on two tables",
]

_IMAGES: Final = ["insert", "update one column", "update a value to null", "update the key", "delete"]

_CLOUDCANAL_FORMATS: Final = ("cloudcanal-json", "cloudcanal-canal-json", "cloudcanal-dts-avro", "cloudcanal-debezium")
_CLOUDCANAL_SOURCES: Final = (
    "mysql-8.0", "mariadb-10.11", "oceanbase-mysql-4.3", "oceanbase-oracle-4.3", "oracle-19c", "postgresql-16",
    "gaussdb-505", "sqlserver-2022", "mongodb-6.0",
)  # fmt: skip

CLOUDCANAL: Final[Files] = {
    **{(format, source): None for format in _CLOUDCANAL_FORMATS for source in _CLOUDCANAL_SOURCES},
    ("cloudcanal-json", "mysql-5.7"): ["integers at their bounds", "bits and years", "geometries", "add column"],
    ("cloudcanal-json,batch_rows=2", "mysql-8.0"): _BATCHES,
    ("cloudcanal-json,batch_rows=50,key=pk,custom_header=env:test", "mysql-8.0"): _BATCHES,
    ("cloudcanal-json,batch_rows=50,broker=rocketmq", "mysql-8.0"): _BATCHES,
    ("cloudcanal-json,ddl_field=both,ddl_statements=all", "mysql-8.0"): [
        "insert",
        "create database",
        "create index",
        "drop index",
        "drop table",
        "drop database",
    ],
    ("cloudcanal-json,delete_image=before", "mysql-8.0"): ["delete"],
    ("cloudcanal-json,delete_image=both,bid_mode=zero", "mysql-8.0"): _IMAGES,
    ("cloudcanal-json,old_image=changed,null_columns=omit", "mysql-8.0"): _IMAGES,
    ("cloudcanal-json,minimal=on", "mysql-8.0"): _IMAGES,
    ("cloudcanal-json,emit_transaction_end=on", "mysql-8.0"): ["insert", "a transaction on two tables"],
    ("cloudcanal-json,replica_identity=default", "postgresql-16"): _IMAGES,
    ("cloudcanal-json,batch_rows=50", "mongodb-6.0"): ["insert several rows", "delete several rows"],
    ("cloudcanal-dts-avro,minimal=on", "mysql-8.0"): _IMAGES,
    ("cloudcanal-dts-avro,ispk_field=on", "mongodb-6.0"): ["insert", "update one column", "delete"],
    ("cloudcanal-json,rename_table=new,broker=rocketmq", "mysql-8.0"): ["rename table"],
    ("cloudcanal-json,split_pk_update=on", "mysql-8.0"): ["update the key", "update a part of the key"],
    ("cloudcanal-json,value_types=native,float_text=plain", "mysql-8.0"): [
        "integers at their bounds",
        "floating point numbers",
    ],
    ("cloudcanal-json,timestamp_zone=Asia/Shanghai,zero_date=1970-01-01 00:00:00", "mysql-8.0"): [
        "dates and times",
        "dates that are none",
    ],
    ("cloudcanal-json,geometry_srid=keep", "mysql-8.0"): ["geometries"],
    ("cloudcanal-json,full_datetime=log", "mysql-8.0"): ["a row of a snapshot"],
    ("cloudcanal-json,oracle_lob=on,oracle_std_codes=on,timestamp_zone=+08:00", "oracle-19c"): [
        "null everywhere",
        "dates and times",
        "bytes",
    ],
    ("cloudcanal-json,timestamp_zone=+08:00", "mongodb-6.0"): ["dates and times"],
    ("cloudcanal-json,pg_truncate=alter", "postgresql-16"): ["truncate table"],
    ("cloudcanal-json,timestamp_zone=Asia/Shanghai", "postgresql-16"): ["dates and times", "dates that are none"],
    ("cloudcanal-canal-json,batch_rows=50,old_image=changed", "mysql-8.0"): _BATCHES,
    ("cloudcanal-canal-json,database_name=db.schema", "mysql-8.0"): ["insert", "add column"],
    ("cloudcanal-dts-avro,ispk_field=on", "mysql-8.0"): ["insert", "insert with a composite key", "delete"],
    ("cloudcanal-dts-avro,init_op=INIT,schema_variant=A", "mysql-8.0"): ["a row of a snapshot", "add column"],
    ("cloudcanal-debezium,envelop_schema_include=on", "postgresql-16"): ["insert", "add column"],
    ("cloudcanal-debezium,envelop_schema_include=on", "mysql-5.7"): ["insert", "add column", "null everywhere"],
    ("cloudcanal-debezium,envelop_schema_include=on,connect_schema=on", "mysql-8.0"): ["insert", "add column"],
    ("cloudcanal-debezium,envelop_schema_include=on,key_order=doc", "mysql-8.0"): ["insert", "delete", "add column"],
    ("cloudcanal-debezium,empty_image=null,source_ts=exec,ddl_op=a", "mysql-8.0"): ["insert", "delete", "add column"],
    ("cloudcanal-debezium,source_members=debezium,gtid=on,init_op=r", "mysql-8.0"): [
        "insert",
        "a row of a snapshot",
        "add column",
    ],
    ("cloudcanal-debezium,minimal=on,null_columns=omit", "mysql-8.0"): _IMAGES,
    ("cloudcanal-debezium,ddl_statements=all", "mysql-8.0"): ["create database", "drop index", "drop table"],
}

FILES: Final[Files] = {**CANAL, **DTS, **OMS, **DRS, **CLOUDCANAL}
