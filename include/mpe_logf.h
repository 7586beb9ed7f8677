!     MPE's logging API for Fortran, fixed and free form.
      integer MPE_LOG_OK, MPE_LOG_LOCKED_OUT, MPE_LOG_NO_MEMORY
      integer MPE_LOG_FILE_PROB, MPE_LOG_NOT_INITIALIZED
      integer MPE_LOG_PACK_FAIL
      parameter (MPE_LOG_OK = 0, MPE_LOG_LOCKED_OUT = 1)
      parameter (MPE_LOG_NO_MEMORY = 2, MPE_LOG_FILE_PROB = 3)
      parameter (MPE_LOG_NOT_INITIALIZED = 4, MPE_LOG_PACK_FAIL = 5)

      integer  MPE_Init_log, MPE_Initialized_logging
      external MPE_Init_log, MPE_Initialized_logging
      integer  MPE_Start_log, MPE_Stop_log, MPE_Finish_log
      external MPE_Start_log, MPE_Stop_log, MPE_Finish_log
      integer  MPE_Log_sync_clocks
      external MPE_Log_sync_clocks
      integer  MPE_Log_get_event_number
      external MPE_Log_get_event_number
      integer  MPE_Log_get_state_eventIDs
      external MPE_Log_get_state_eventIDs
      integer  MPE_Log_get_solo_eventID
      external MPE_Log_get_solo_eventID
      integer  MPE_Describe_state, MPE_Describe_info_state
      external MPE_Describe_state, MPE_Describe_info_state
      integer  MPE_Describe_event, MPE_Describe_info_event
      external MPE_Describe_event, MPE_Describe_info_event
      integer  MPE_Log_event, MPE_Log_bare_event
      external MPE_Log_event, MPE_Log_bare_event
      integer  MPE_Log_info_event, MPE_Log_pack
      external MPE_Log_info_event, MPE_Log_pack
      integer  MPE_Log_send, MPE_Log_receive
      external MPE_Log_send, MPE_Log_receive
